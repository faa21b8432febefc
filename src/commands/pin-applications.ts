/** Applications that PINs are sent for, and the templates of their messages. There is no delete: both are bounded in number. */

import type { PinApplication, PinConfiguration, PinTemplate } from "../pins/commands.ts";
import { DEFAULT_CONFIGURATION, MAX_APPLICATIONS, MAX_TEMPLATES } from "../pins/defaults.ts";
import { DEFAULT_PIN_LENGTH } from "../pins/pin.ts";
import type { CommandParts } from "../store/command-parts.ts";
import { commands } from "./entry.ts";
import { pinSecretPlace, secretWriter } from "./secrets.ts";

interface ApplicationRow {
  readonly id: string;
  readonly name: string;
  readonly enabled: number;
  readonly configuration: string;
}

type TemplateRow = Omit<PinTemplate, "kept"> & { readonly kept: string };

const APPLICATION_COLUMNS = "id, name, enabled, configuration";
const TEMPLATE_COLUMNS = `pin_template.id, application_id AS "applicationId", pin_template.body AS text, pin_type AS "pinType",
  pin_length AS "pinLength", sender AS "senderId", kept`;

function applicationOf(row: ApplicationRow): PinApplication {
  const configuration = JSON.parse(row.configuration) as PinConfiguration;
  return { ...row, enabled: row.enabled === 1, configuration: { ...DEFAULT_CONFIGURATION, ...configuration } };
}

function templateOf(row: TemplateRow): PinTemplate {
  return { ...row, kept: JSON.parse(row.kept) };
}

export function pinApplicationCommands(parts: CommandParts) {
  const { sql } = parts;
  const lock = sql.dialect.lock();
  const { seal } = secretWriter(parts);
  const lockAccount = sql.prepare<[number], { id: number }>(`SELECT id FROM account WHERE id = ? ${lock}`);
  const one = sql.prepare<[string, number], ApplicationRow>(
    `SELECT ${APPLICATION_COLUMNS} FROM pin_application WHERE id = ? AND account_id = ?`,
  );
  const oneLocked = sql.prepare<[string, number], ApplicationRow>(
    `SELECT ${APPLICATION_COLUMNS} FROM pin_application WHERE id = ? AND account_id = ? ${lock}`,
  );
  const all = sql.prepare<[number, number], ApplicationRow>(
    `SELECT ${APPLICATION_COLUMNS} FROM pin_application WHERE account_id = ? ORDER BY created_at_ms, id LIMIT ?`,
  );
  const countAll = sql.prepare<[number], { count: number }>(
    "SELECT count(*) AS count FROM pin_application WHERE account_id = ?",
  );
  const insert = sql.prepare<[string, number, string, number, string, string, number]>(
    `INSERT INTO pin_application (id, account_id, name, enabled, configuration, secret, created_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const update = sql.prepare<[string, number, string, string]>(
    "UPDATE pin_application SET name = ?, enabled = ?, configuration = ? WHERE id = ?",
  );

  const template = sql.prepare<[string, string], TemplateRow>(
    `SELECT ${TEMPLATE_COLUMNS} FROM pin_template WHERE id = ? AND application_id = ?`,
  );
  const templates = sql.prepare<[string, number], TemplateRow>(
    `SELECT ${TEMPLATE_COLUMNS} FROM pin_template WHERE application_id = ? ORDER BY created_at_ms, id LIMIT ?`,
  );
  const countTemplates = sql.prepare<[string], { count: number }>(
    "SELECT count(*) AS count FROM pin_template WHERE application_id = ?",
  );
  const insertTemplate = sql.prepare<[string, string, string, string, number, string | null, string, number]>(
    `INSERT INTO pin_template (id, application_id, body, pin_type, pin_length, sender, kept, created_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const updateTemplate = sql.prepare<[string, string, number, string | null, string, string]>(
    "UPDATE pin_template SET body = ?, pin_type = ?, pin_length = ?, sender = ?, kept = ? WHERE id = ?",
  );

  return commands({
    async pinApplication({ accountId, id }) {
      const row = await one.get(id, accountId);
      return row === undefined ? null : applicationOf(row);
    },

    async pinApplications({ accountId }) {
      return (await all.all(accountId, MAX_APPLICATIONS)).map(applicationOf);
    },

    async putPinApplication({ accountId, id, change, secret, atMs }) {
      const row = secret === null ? await oneLocked.get(id, accountId) : undefined;
      if (secret === null && row === undefined) return "unknown";
      const before =
        row === undefined ? { id, enabled: true, configuration: DEFAULT_CONFIGURATION } : applicationOf(row);
      const { name, enabled = before.enabled } = change;
      const configuration = { ...before.configuration, ...change.configuration };
      const kept = JSON.stringify(configuration);
      if (secret === null) {
        await update.run(name, Number(enabled), kept, id);
      } else {
        // Two that are made at once are counted one after the other.
        await lockAccount.get(accountId);
        if ((await countAll.get(accountId))!.count >= MAX_APPLICATIONS) return "too many";
        await insert.run(id, accountId, name, Number(enabled), kept, await seal(pinSecretPlace(id), secret), atMs);
      }
      return { id, name, enabled, configuration };
    },

    async pinTemplate({ accountId, applicationId, id }) {
      if ((await one.get(applicationId, accountId)) === undefined) return null;
      const row = await template.get(id, applicationId);
      return row === undefined ? null : templateOf(row);
    },

    async pinTemplates({ accountId, applicationId }) {
      if ((await one.get(applicationId, accountId)) === undefined) return null;
      return (await templates.all(applicationId, MAX_TEMPLATES)).map(templateOf);
    },

    async putPinTemplate({ accountId, applicationId, id, change, isNew, atMs }) {
      // With the application's row whoever changes its templates waits for the others.
      if ((await oneLocked.get(applicationId, accountId)) === undefined) return "unknown";
      const row = isNew ? undefined : await template.get(id, applicationId);
      if (!isNew && row === undefined) return "unknown";
      const fresh = { pinLength: DEFAULT_PIN_LENGTH, senderId: null, kept: {} };
      const before = row === undefined ? fresh : templateOf(row);
      const after = {
        ...before,
        ...change,
        kept: { ...before.kept, ...change.kept },
        id,
        applicationId,
      } as PinTemplate;
      const { text, pinType, pinLength, senderId } = after;
      const kept = JSON.stringify(after.kept);
      if (isNew) {
        if ((await countTemplates.get(applicationId))!.count >= MAX_TEMPLATES) return "too many";
        await insertTemplate.run(id, applicationId, text, pinType, pinLength, senderId, kept, atMs);
      } else await updateTemplate.run(text, pinType, pinLength, senderId, kept, id);
      return after;
    },
  });
}
