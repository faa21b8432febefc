/** What a backup is made from and to, and how it tells of its progress. */

export interface BackupOptions {
  /** The directory of the embedded store, or postgres://… */
  readonly from: { readonly data: string } | { readonly url: string };
  /** How the source is called in messages to people: without its password. */
  readonly fromName: string;
  /** A directory that is empty, or not there yet. */
  readonly to: string;
  readonly onStep?: (step: BackupStep) => void;
  readonly onProgress?: (progress: BackupProgress) => void;
  /** Characters of a page of rows, about. */
  readonly pageCharacters?: number;
}

export type BackupStep = "reading" | "checking";

export interface BackupProgress {
  /** Of which table. Pages of a file have none. */
  readonly table: string | null;
  readonly done: number;
  readonly total: number;
}
