/**
 * What can be said of a message: the table of statuses, by name and by number.
 * The API sends all of a status but `final`, which tells whether another one may follow.
 */
import { GROUP_NAMES, STATUS_ROWS } from "./data/statuses.ts";

export interface Status {
  groupId: number;
  groupName: string;
  id: number;
  name: string;
  description: string;
  final: boolean;
}

export type StatusName = (typeof STATUS_ROWS)[number][1];

/** What a phone or its network may still change: of what the operator has, it is not known whether the phone gets it. */
const OPEN: ReadonlySet<string> = new Set(["ACCEPTED", "PENDING", "DELIVERED_TO_OPERATOR"]);

const ROWS = STATUS_ROWS.map(([id, name, groupName, description]) => {
  const final = !OPEN.has(groupName) && !OPEN.has(name);
  return Object.freeze({ groupId: GROUP_NAMES.indexOf(groupName), groupName, id, name, description, final });
});

export const STATUS = Object.freeze(Object.fromEntries(ROWS.map((row) => [row.name, row]))) as Readonly<
  Record<StatusName, Status>
>;

const byId = new Map<number, Status>(ROWS.map((row) => [row.id, row]));

export function statusById(id: number): Status {
  const status = byId.get(id);
  if (status === undefined) throw new RangeError(`no status has the id ${id}`);
  return status;
}
