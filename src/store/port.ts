/** The words of the port in one place. Import from port/ directly: there each has its file. */
export { ROLES, type Role } from "../runtime/roles.ts";
export * from "./port/accounts.ts";
export * from "./port/bulks.ts";
export * from "./port/catalogue.ts";
export * from "./port/credentials.ts";
export * from "./port/delivery.ts";
export * from "./port/errors.ts";
export * from "./port/incoming.ts";
export * from "./port/messages.ts";
export * from "./port/money.ts";
export * from "./port/nodes.ts";
export * from "./port/quarantine.ts";
export * from "./port/receipts.ts";
export * from "./port/reports.ts";
export * from "./port/secrets.ts";
export * from "./port/store.ts";
export * from "./port/tracking.ts";
