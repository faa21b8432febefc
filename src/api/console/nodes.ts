/** The nodes that share the work, and what the data takes. */
import { Type } from "../../runtime/type.ts";
import { replicationInWords } from "../../store/port/replication.ts";
import type { ApiParts } from "../parts.ts";
import { isoTime, NumberOrNull } from "./schemas.ts";
import { OPERATING, type View } from "./view.ts";

const MAX_NODES = 200;

export function nodeViews({ health }: ApiParts): View[] {
  return [
    {
      name: "nodes",
      summary: "See the nodes, and what the data takes",
      ...OPERATING,
      answer: Type.Object({
        engine: Type.String(),
        leaseMs: NumberOrNull,
        nodes: Type.Array(
          Type.Object({
            name: Type.String(),
            roles: Type.Array(Type.String()),
            isSelf: Type.Boolean(),
            leads: Type.Boolean(),
            isAlive: Type.Boolean(),
            slot: Type.Integer(),
            binds: Type.Array(Type.Object({ carrier: Type.String(), count: Type.Integer() })),
          }),
        ),
        gone: Type.Array(Type.String(), { description: "Nodes that are gone, and whose messages are being freed." }),
        replication: Type.Union([Type.String(), Type.Null()], {
          description:
            "Whether somebody beside the database's server has what is committed. Null where the store is a file, or the server does not say.",
        }),
        storage: Type.Object({
          octets: Type.Integer(),
          files: Type.Array(Type.Object({ name: Type.String(), octets: Type.Integer() })),
          journalEntries: NumberOrNull,
          partitions: Type.Array(Type.Object({ name: Type.String(), from: Type.String(), to: Type.String() })),
        }),
      }),
      read: async () => {
        const [{ engine, nodes, gone }, storage, replication] = await Promise.all([
          health.cluster(),
          health.storage(),
          health.replication().catch(() => null),
        ]);
        return {
          engine,
          leaseMs: engine === "postgres" ? health.leaseMs : null,
          nodes: nodes.slice(0, MAX_NODES).map(({ binds, ...node }) => ({
            ...node,
            binds: binds.map(({ carrierId, count }) => ({ carrier: carrierId, count })),
          })),
          gone,
          replication: replication === null ? null : replicationInWords(replication),
          storage: {
            ...storage!,
            partitions: storage!.partitions.map(({ name, fromMs, toMs }) => ({
              name,
              from: isoTime(fromMs),
              to: isoTime(toMs),
            })),
          },
        };
      },
    },
  ];
}
