/** The store's contract on PostgreSQL: accounts and their money. */
import { contractOnPostgres } from "./postgres-database.ts";

contractOnPostgres("accounts");
