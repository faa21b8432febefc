/** The store's contract on PostgreSQL: what carriers say of messages. */
import { contractOnPostgres } from "./postgres-database.ts";

contractOnPostgres("receipts");
