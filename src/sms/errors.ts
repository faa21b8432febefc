/**
 * Why a message failed: the error codes that a delivery report carries beside its status. `permanent` tells the client
 * that sending again to the same number will fail again.
 */
import table from "./data/errors.json" with { type: "json" };

export interface DeliveryError {
  groupId: number;
  groupName: string;
  id: number;
  name: string;
  description: string;
  permanent: boolean;
}

export const errorRows: readonly DeliveryError[] = table.rows.map((row) => Object.freeze(row));
const byId = new Map(errorRows.map((row) => [row.id, row]));
const byName = new Map(errorRows.map((row) => [row.name, row]));

/** For codes from outside, which may be none of ours. */
export function findError(id: number): DeliveryError | undefined {
  return byId.get(id);
}

export function errorById(id: number): DeliveryError {
  const error = findError(id);
  if (error === undefined) throw new RangeError(`no delivery error has the id ${id}`);
  return error;
}

export function errorByName(name: string): DeliveryError {
  const error = byName.get(name);
  if (error === undefined) throw new RangeError(`no delivery error has the name ${name}`);
  return error;
}
