/**
 * What can be said of a message: the table of statuses, by name and by number.
 * The API sends all of a status but `final`, which tells whether another one may follow.
 */
import { STATUS_ROWS } from "./data/statuses.ts";

export interface Status {
  groupId: number;
  groupName: string;
  id: number;
  name: string;
  description: string;
  final: boolean;
}

export type StatusName = (typeof STATUS_ROWS)[number]["name"];

export const STATUS = Object.freeze(
  Object.fromEntries(STATUS_ROWS.map((row) => [row.name, Object.freeze(row)])),
) as Readonly<Record<StatusName, Status>>;

const byId = new Map<number, Status>(STATUS_ROWS.map((row) => [row.id, row]));

export function statusById(id: number): Status {
  const status = byId.get(id);
  if (status === undefined) throw new RangeError(`no status has the id ${id}`);
  return status;
}
