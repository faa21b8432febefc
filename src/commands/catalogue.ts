/** What the operator sets: what the data is for, and the catalogue's items, each with a version, so that two operators do not overwrite each other. */
import type { CommandParts } from "../store/command-parts.ts";
import type { CatalogueItem, Purpose } from "../store/port/catalogue.ts";
import { isCarrierSecret } from "../store/port/secrets.ts";
import { type AuditedChange, auditWriter } from "./audit.ts";
import { commands } from "./entry.ts";
import { openItem, secretWriter } from "./secrets.ts";

export function catalogueCommands(parts: CommandParts) {
  const { sql, secrets } = parts;
  const { note, tellChange, noteChange } = auditWriter(parts);
  const { sealItem } = secretWriter(parts);
  const items = sql.prepare<[], CatalogueItem & { version: number }>(
    "SELECT kind, id, body, version FROM catalogue_item ORDER BY kind, id",
  );
  const one = sql.prepare<[string, string], { body: string; version: number }>(
    `SELECT body, version FROM catalogue_item WHERE kind = ? AND id = ? ${sql.dialect.lock()}`,
  );
  const insert = sql.prepare<[string, string, string]>("INSERT INTO catalogue_item (kind, id, body) VALUES (?, ?, ?)");
  const update = sql.prepare<[string, string, string]>(
    "UPDATE catalogue_item SET body = ?, version = version + 1 WHERE kind = ? AND id = ?",
  );
  const remove = sql.prepare<[string, string]>("DELETE FROM catalogue_item WHERE kind = ? AND id = ?");

  const changes = sql.prepare<[], { changes: number }>("SELECT changes FROM counter");
  const setPurpose = sql.prepare<[Purpose]>("UPDATE counter SET purpose = ? WHERE purpose IS NULL");
  const purposeOf = sql.prepare<[], { purpose: Purpose | null }>("SELECT purpose FROM counter");

  const about = (kind: CatalogueItem["kind"], subject: string) => ({ kind, subject, resellerId: null });
  /** For the audit: that there is a secret is seen, and not which one. */
  const parsed = (body: string | undefined): unknown =>
    body === undefined ? null : JSON.parse(body, (name, value) => (isCarrierSecret(name) ? "(hidden)" : value));

  const write = async (
    { kind, id, body }: Pick<CatalogueItem, "kind" | "id" | "body">,
    before: string | undefined,
    made: Pick<AuditedChange, "by" | "atMs">,
  ): Promise<void> => {
    const sealed = await sealItem({ kind, id, body });
    if (before === undefined) await insert.run(kind, id, sealed.body);
    else await update.run(sealed.body, kind, id);
    const action = before === undefined ? "create" : "change";
    await note({ ...made, action, ...about(kind, id), before: parsed(before), after: parsed(body) });
  };

  const opened = async () => (await items.all()).map((item) => openItem(secrets, item));

  return commands({
    async claimPurpose({ purpose }) {
      await setPurpose.run(purpose);
      return (await purposeOf.get())!.purpose!;
    },

    purpose: async () => (await purposeOf.get())!.purpose,

    changeCounter: async () => (await changes.get())!.changes,

    catalogue: opened,

    async putCatalogue({ items: wanted, by, atMs = 0 }) {
      const old = new Map((await opened()).map((item) => [`${item.kind} ${item.id}`, item]));
      for (const { kind, id, body } of wanted) {
        const before = old.get(`${kind} ${id}`);
        old.delete(`${kind} ${id}`);
        if (before?.body !== body) await write({ kind, id, body }, before?.body, { by, atMs });
      }
      for (const { kind, id, body } of old.values()) {
        await remove.run(kind, id);
        await note({ by, atMs, action: "delete", ...about(kind, id), before: parsed(body) });
      }
      await tellChange();
    },

    async putItem({ kind, id, body, version, by, atMs }) {
      const before = await one.get(kind, id);
      if ((before?.version ?? 0) !== version) return { kind: "outdated", version: before?.version ?? 0 };
      await write({ kind, id, body }, before?.body, { by, atMs });
      await tellChange();
      return { kind: "written", version: version + 1 };
    },

    async deleteItem({ kind, id, version, by, atMs }) {
      const before = await one.get(kind, id);
      if (before === undefined) return "unknown";
      if (version !== null && before.version !== version) return "outdated";
      await remove.run(kind, id);
      await noteChange({ by, atMs, action: "delete", ...about(kind, id), before: parsed(before.body) });
      return "deleted";
    },
  });
}
