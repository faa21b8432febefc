/** Applications that PINs are sent for, and the templates of their messages. There is no delete: both are bounded in number. */
import type { PinApplication, PinTemplate } from "../pins/commands.ts";
import { DEFAULT_CONFIGURATION, MAX_APPLICATIONS, MAX_TEMPLATES } from "../pins/defaults.ts";
import { DEFAULT_PIN_LENGTH } from "../pins/pin.ts";
import { counting, finder, inserting, selecting, updating } from "../store/by-name.ts";
import type { CommandParts } from "../store/command-parts.ts";
import { ACCOUNT } from "../store/schema/account.ts";
import { PIN_APPLICATION, PIN_TEMPLATE, type PinApplicationRow } from "../store/schema/pin.ts";
import { commands } from "./entry.ts";
import { pinSecretPlace, secretWriter } from "./secrets.ts";

const APPLICATION = ["id", "name", "enabled", "configuration"] as const;
const TEMPLATE = ["id", "applicationId", "text", "pinType", "pinLength", "senderId", "kept"] as const;

function withDefaults(row: Pick<PinApplicationRow, (typeof APPLICATION)[number]>): PinApplication {
  return { ...row, configuration: { ...DEFAULT_CONFIGURATION, ...row.configuration } };
}

export function pinApplicationCommands(parts: CommandParts) {
  const { sql } = parts;
  const lock = sql.dialect.lock();
  const { seal } = secretWriter(parts);
  const lockAccount = selecting(sql, ACCOUNT, ["id"], ["id"], lock);
  const finding = finder(sql, PIN_APPLICATION, PIN_TEMPLATE);
  const one = selecting(sql, PIN_APPLICATION, APPLICATION, ["id", "accountId"]);
  const oneLocked = selecting(sql, PIN_APPLICATION, APPLICATION, ["id", "accountId"], lock);
  const all = finding<[number, number], PinApplication>(
    `SELECT ${PIN_APPLICATION.named(...APPLICATION)} FROM pin_application WHERE account_id = ? ORDER BY created_at_ms, id LIMIT ?`,
  );
  const countAll = counting<[number]>(sql, "pin_application WHERE account_id = ?");
  const insert = inserting(sql, PIN_APPLICATION);
  const update = updating(sql, PIN_APPLICATION, ["name", "enabled", "configuration"]);

  const template = selecting(sql, PIN_TEMPLATE, TEMPLATE, ["id", "applicationId"]);
  const templates = finding<[string, number], PinTemplate>(
    `SELECT ${PIN_TEMPLATE.named(...TEMPLATE)} FROM pin_template WHERE application_id = ? ORDER BY created_at_ms, id LIMIT ?`,
  );
  const countTemplates = counting<[string]>(sql, "pin_template WHERE application_id = ?");
  const insertTemplate = inserting(sql, PIN_TEMPLATE);
  const updateTemplate = updating(sql, PIN_TEMPLATE, ["text", "pinType", "pinLength", "senderId", "kept"]);

  return commands({
    async pinApplication({ accountId, id }) {
      const row = await one.get(id, accountId);
      return row === undefined ? null : withDefaults(row);
    },

    async pinApplications({ accountId }) {
      return (await all.all(accountId, MAX_APPLICATIONS)).map(withDefaults);
    },

    async putPinApplication({ accountId, id, change, secret, atMs }) {
      const row = secret === null ? await oneLocked.get(id, accountId) : undefined;
      if (secret === null && row === undefined) return "unknown";
      const before =
        row === undefined ? { id, enabled: true, configuration: DEFAULT_CONFIGURATION } : withDefaults(row);
      const { name, enabled = before.enabled } = change;
      const configuration = { ...before.configuration, ...change.configuration };
      const application = { id, name, enabled, configuration };
      if (secret === null) {
        await update(application);
      } else {
        // Two that are made at once are counted one after the other.
        await lockAccount.get(accountId);
        if ((await countAll(accountId)) >= MAX_APPLICATIONS) return "too many";
        const sealed = await seal(pinSecretPlace(id), secret);
        await insert.run({ ...application, accountId, secret: sealed, createdAtMs: atMs });
      }
      return application;
    },

    async pinTemplate({ accountId, applicationId, id }) {
      if ((await one.get(applicationId, accountId)) === undefined) return null;
      return (await template.get(id, applicationId)) ?? null;
    },

    async pinTemplates({ accountId, applicationId }) {
      if ((await one.get(applicationId, accountId)) === undefined) return null;
      return templates.all(applicationId, MAX_TEMPLATES);
    },

    async putPinTemplate({ accountId, applicationId, id, change, isNew, atMs }) {
      // With the application's row whoever changes its templates waits for the others.
      if ((await oneLocked.get(applicationId, accountId)) === undefined) return "unknown";
      const row = isNew ? undefined : await template.get(id, applicationId);
      if (!isNew && row === undefined) return "unknown";
      const before = row ?? { pinLength: DEFAULT_PIN_LENGTH, senderId: null, kept: {} };
      const after = {
        ...before,
        ...change,
        kept: { ...before.kept, ...change.kept },
        id,
        applicationId,
      } as PinTemplate;
      if (isNew) {
        if ((await countTemplates(applicationId)) >= MAX_TEMPLATES) return "too many";
        await insertTemplate.run({ ...after, createdAtMs: atMs });
      } else await updateTemplate(after);
      return after;
    },
  });
}
