-- As on PostgreSQL, where charges go by it; here nobody else changes an account while a group runs.
ALTER TABLE wallet ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
