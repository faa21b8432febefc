/**
 * Secrets in the store: where they stand, and their sealing (runtime/secrets.ts). Whoever reads or writes one does it through the functions here.
 * So everything above the commands sees them as they are, and everything below (database, log, backups, copies) has them sealed.
 */
import {
  base32Secret,
  FACTOR_LETTERS,
  PIN_SECRET_OCTETS,
  secret as randomSecret,
  webhookSecret,
} from "../runtime/random.ts";
import { missingKey, type SecretBox, SecretFault, sealedBy } from "../runtime/secrets.ts";
import type { CommandParts } from "../store/command-parts.ts";
import { CARRIER_SECRETS, type CarrierSecret, type SecretCursor } from "../store/port/secrets.ts";
import type { Awaitable, Sql } from "../store/sql.ts";
import { commands } from "./entry.ts";

/** The old one has the place of the new one: it was written there. */
export const callbackSecretPlace = (accountKey: string): string => `account/${accountKey}/callback_secret`;
export const secondFactorPlace = (username: string): string => `login/${username}/second_factor`;
export const pinSecretPlace = (applicationId: string): string => `pin/${applicationId}/secret`;
const carrierPlace = (id: string, field: CarrierSecret): string => `carrier/${id}/${field}`;

// --- Items of the catalogue --------------------------------------------------------------------------------------------------

interface Item {
  readonly kind: string;
  readonly id: string;
  readonly body: string;
}

type Profile = { readonly [Field in CarrierSecret]?: unknown };

function secretOf(profile: Profile, field: CarrierSecret): string | null {
  const secret = profile[field];
  return typeof secret === "string" ? secret : null;
}

/** A carrier's profile with other secrets; any other item as it is. */
function withSecrets<Some extends Item>(item: Some, change: (secret: string, field: CarrierSecret) => string): Some {
  if (item.kind !== "carrier") return item;
  const profile = JSON.parse(item.body) as Profile;
  const found = CARRIER_SECRETS.flatMap((field) => {
    const secret = secretOf(profile, field);
    return secret === null ? [] : [[field, change(secret, field)] as const];
  });
  if (found.length === 0) return item;
  return { ...item, body: JSON.stringify({ ...profile, ...Object.fromEntries(found) }) };
}

/** An item of the catalogue as whoever uses it wants it. */
export function openItem<Some extends Item>(secrets: SecretBox, item: Some): Some {
  return withSecrets(item, (secret, field) => secrets.open(carrierPlace(item.id, field), secret));
}

// --- Writing -----------------------------------------------------------------------------------------------------------------

/**
 * Seals what is about to be stored, if the store is sealed: two accounts say so, the first and the last, or there is none yet.
 *
 * A process that does not have a sealed store's key writes no secret: without a key it would stand there open, and with another one the service
 * could not use it. And one with a key seals nothing in a store that is not sealed: services may run there without the key, and could not use it
 * either. `secrets seal` is what makes a store a sealed one.
 */
export function secretWriter({ sql, secrets }: CommandParts) {
  const ends = ["ASC", "DESC"].map((way) =>
    sql.prepare<[], { secret: string }>(`SELECT callback_secret AS secret FROM account ORDER BY id ${way} LIMIT 1`),
  );
  const isSealed = async (): Promise<boolean> => {
    let isAny = false;
    for (const end of ends) {
      const found = await end.get();
      if (found === undefined) return true;
      const id = sealedBy(found.secret);
      if (id !== null && !secrets.keyIds.includes(id))
        throw new SecretFault(missingKey([id], secrets.keyIds.length > 0));
      isAny ||= id !== null;
    }
    return isAny;
  };
  return {
    async seal(place: string, text: string): Promise<string> {
      return (await isSealed()) ? secrets.seal(place, text) : text;
    },
    async sealItem<Some extends Item>(item: Some): Promise<Some> {
      if (withSecrets(item, () => "") === item || !(await isSealed())) return item;
      return withSecrets(item, (secret, field) => secrets.seal(carrierPlace(item.id, field), secret));
    },
  };
}

// --- All of them -------------------------------------------------------------------------------------------------------------

interface StoredSecret {
  readonly key: string;
  readonly place: string;
  readonly text: string;
  /** What stands there once its key is lost. */
  fresh(): string;
  /** Puts the sealed text in its place, unless somebody has just changed it. */
  replace(sealed: string): Awaitable<number>;
}

/** A page of the secrets of one kind, in the order of their keys. */
type Secrets = (after: string, limit: number) => Promise<StoredSecret[]>;

/** Secrets in a column of their own, in rows that are named by a column of text. */
function inColumn(
  sql: Sql,
  { table, key, column }: { readonly table: string; readonly key: string; readonly column: string },
  place: (key: string) => string,
  fresh: () => string,
): Secrets {
  const page = sql.prepare<[string, number], { key: string; text: string }>(
    `SELECT ${key} AS key, ${column} AS text FROM ${table} WHERE ${key} > ? AND ${column} IS NOT NULL ORDER BY ${key} LIMIT ?`,
  );
  const set = sql.prepare<[string, string, string]>(
    `UPDATE ${table} SET ${column} = ? WHERE ${key} = ? AND ${column} = ?`,
  );
  return async (after, limit) =>
    (await page.all(after, limit)).map(({ key, text }) => ({
      key,
      text,
      place: place(key),
      fresh,
      replace: (sealed) => set.run(sealed, key, text),
    }));
}

/** One of the secrets of carriers. A profile without it counts as an empty one, which needs no sealing. */
function inCarriers(sql: Sql, field: CarrierSecret): Secrets {
  const page = sql.prepare<[string, number], Item>(
    "SELECT kind, id, body FROM catalogue_item WHERE kind = 'carrier' AND id > ? ORDER BY id LIMIT ?",
  );
  const set = sql.prepare<[string, string, string]>(
    "UPDATE catalogue_item SET body = ? WHERE kind = 'carrier' AND id = ? AND body = ?",
  );
  return async (after, limit) =>
    (await page.all(after, limit)).map((item) => ({
      key: item.id,
      text: secretOf(JSON.parse(item.body), field) ?? "",
      place: carrierPlace(item.id, field),
      fresh: () => "",
      replace: (sealed) =>
        set.run(withSecrets(item, (secret, each) => (each === field ? sealed : secret)).body, item.id, item.body),
    }));
}

export function secretCommands({ sql, secrets }: CommandParts) {
  const kinds: readonly Secrets[] = [
    ...["callback_secret", "old_callback_secret"].map((column) =>
      inColumn(sql, { table: "account", key: "key", column }, callbackSecretPlace, webhookSecret),
    ),
    // A lost one is as good as a lost phone: its user needs a reset.
    inColumn(sql, { table: "second_factor", key: "username", column: "secret" }, secondFactorPlace, () =>
      base32Secret(FACTOR_LETTERS),
    ),
    // PINs that were sent before are other ones then: nobody can verify them.
    inColumn(sql, { table: "pin_application", key: "id", column: "secret" }, pinSecretPlace, () =>
      randomSecret(PIN_SECRET_OCTETS),
    ),
    ...CARRIER_SECRETS.map((field) => inCarriers(sql, field)),
  ];

  /** A page of one kind; behind the last page of it comes the next kind. */
  const pageFrom = async ({ after, limit }: { after: SecretCursor | null; limit: number }) => {
    const { kind, key } = after ?? { kind: 0, key: "" };
    const rows = await kinds[kind]!(key, limit);
    const more = kind + 1 < kinds.length ? { kind: kind + 1, key: "" } : null;
    const next = rows.length < limit ? more : { kind, key: rows.at(-1)!.key };
    return { found: rows.filter(({ text }) => text !== ""), next };
  };

  const canOpen = (text: string): boolean => {
    const id = sealedBy(text);
    return id === null || secrets.keyIds.includes(id);
  };

  return commands({
    async secretKeys(input) {
      const { found, next } = await pageFrom(input);
      const byKey = Map.groupBy(found, ({ text }) => sealedBy(text));
      return { counts: [...byKey].map(([keyId, some]) => ({ keyId, count: some.length })), next };
    },

    async sealSecrets(input) {
      const { found, next } = await pageFrom(input);
      const [newest] = secrets.keyIds;
      const outdated = found.filter(({ text }) => sealedBy(text) !== newest);
      const lost: string[] = [];
      for (const { place, text, fresh, replace } of outdated) {
        const isLost = input.renewLost && !canOpen(text);
        if (isLost) lost.push(place);
        await replace(secrets.seal(place, isLost ? fresh() : secrets.open(place, text)));
      }
      return { sealed: outdated.length, lost, next };
    },
  });
}
