/** The rules for the whole catalogue as one file: what putting it in force would do, that it may be done, and the file that says what is in force. */
import { isDeepStrictEqual } from "node:util";
import { examineCatalogueFile, type ItemFields, writeCatalogueFile } from "../catalogue/file.ts";
import type { CatalogueItem } from "../store/port/catalogue.ts";
import { CARRIER_SECRETS } from "../store/port/secrets.ts";
import type { Store } from "../store/port/store.ts";
import { lostPlans, refuseLostPlans } from "./catalogue.ts";
import { fieldsOf, type ItemName, KEEP, shownFields } from "./items.ts";
import type { SignedBy } from "./manager.ts";
import { conflict } from "./refusal.ts";

/** What putting a file in force does to the catalogue that was in force when it was made. */
export interface CataloguePlan {
  readonly inForce: readonly CatalogueItem[];
  readonly wanted: readonly CatalogueItem[];
  readonly created: readonly CatalogueItem[];
  readonly changed: readonly { readonly before: CatalogueItem; readonly after: CatalogueItem }[];
  readonly deleted: readonly CatalogueItem[];
}

type Prepare = NonNullable<Parameters<typeof examineCatalogueFile>[2]>;

/**
 * Reads a file, which is called `name` where something is wrong in it, and says what it would change. The file does not know which accounts there are, so a number's account may be made later; but no account
 * may lose the rate plan that it pays by.
 */
export async function planCatalogue(
  store: Pick<Store, "catalogue" | "accounts">,
  text: string,
  name: string,
): Promise<CataloguePlan> {
  const inForce = await store.catalogue();
  const file = examineCatalogueFile(text, name, (written, tell) => withKeptSecrets(written, inForce, tell));
  // Beside other faults it is one of them, so that all are told at once.
  if (!file.isRight) for (const says of await lostPlans(store, inForce, file.currencies)) file.tell(says);
  const read = file.items();
  await refuseLostPlans(store, inForce, read);
  const keyOf = ({ kind, id }: ItemName): string => `${kind} ${id}`;
  const known = new Map(inForce.map((item) => [keyOf(item), item]));
  const kept = new Set(read.map(keyOf));
  const created = read.filter((item) => !known.has(keyOf(item)));
  const changed = read.flatMap((after) => {
    const before = known.get(keyOf(after));
    return before === undefined || isDeepStrictEqual(fieldsOf(before), fieldsOf(after)) ? [] : [{ before, after }];
  });
  const touched = new Set([...created, ...changed.map(({ after }) => after)]);
  return {
    inForce,
    // What says the same in another order stays to the letter, so that nobody is told of a change that is none.
    wanted: read.map((item) => (touched.has(item) ? item : known.get(keyOf(item))!)),
    created,
    changed,
    deleted: inForce.filter((item) => !kept.has(keyOf(item))),
  };
}

type PlanStore = Pick<Store, "catalogue" | "accounts" | "putCatalogue">;

/** Puts a plan in force, if the catalogue is still as it was when the plan was made. */
export async function applyPlan(store: PlanStore, { inForce, wanted }: CataloguePlan, change: SignedBy): Promise<void> {
  if (!isDeepStrictEqual(await store.catalogue(), inForce))
    throw conflict("somebody else has changed the catalogue meanwhile: nothing is changed; run it again");
  await refuseLostPlans(store, inForce, wanted);
  await store.putCatalogue({ items: wanted, ...change });
}

/** The catalogue in force, as a file that changes nothing when it is applied. */
export async function exportCatalogue(
  store: Pick<Store, "catalogue">,
  { withSecrets }: { readonly withSecrets: boolean },
): Promise<string> {
  return writeCatalogueFile(await store.catalogue(), withSecrets ? fieldsOf : shownFields);
}

/** Carriers whose secrets are to be kept get those of the catalogue in force. */
function withKeptSecrets(
  file: ItemFields,
  inForce: readonly CatalogueItem[],
  tell: Parameters<Prepare>[1],
): ItemFields {
  if (!Array.isArray(file.carrier)) return file;
  const carrier = (file.carrier as readonly ItemFields[]).map((profile, index) => {
    const kept = CARRIER_SECRETS.filter((field) => profile?.[field] === KEEP);
    if (kept.length === 0) return profile;
    const known = inForce.find(({ kind, id }) => kind === "carrier" && id === profile.id);
    const secrets = known === undefined ? {} : fieldsOf(known);
    const found = kept.map((field) => {
      if (secrets[field] !== undefined) return [field, secrets[field]];
      const says = `has the ${WORDS[field]} "${KEEP}", and there is none in force to keep: write its ${WORDS[field]} in the file`;
      tell(["carrier", index, field], `carrier ${JSON.stringify(profile.id)} ${says}`);
      // One that is not too long: what is wrong with it has been told.
      return [field, field === "password" ? "" : "-"];
    });
    return { ...profile, ...Object.fromEntries(found) };
  });
  return { ...file, carrier };
}

const WORDS = { password: "password", apiKey: "API key", callbackSecret: "callback secret" } as const;
