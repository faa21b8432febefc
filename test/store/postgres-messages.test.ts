/** The store's contract on PostgreSQL: messages. */
import { contractOnPostgres } from "./postgres-database.ts";

contractOnPostgres("messages");
