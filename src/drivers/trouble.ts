/**
 * What an error of the system or of a database means to whoever runs the service, and what to do about it. The words are the same whoever meets the
 * trouble: a start, a command or the doctor. No remedy here destroys anything: what a service has accepted is in its files, whatever stands in the
 * way of them just now.
 */

export type TroubleKind =
  | "absent" // there is no data
  | "full" // no room: a disk, a quota, a limit on files
  | "read-only"
  | "rights" // another user's, or closed to this one
  | "held" // somebody else has it
  | "damaged"
  | "foreign" // it is something else
  | "failing" // the disk, or the way to it
  | "away" // a database that cannot be reached
  | "refused" // a database that does not let this user in
  | "limits"; // of this process or of the database

export interface Trouble {
  readonly kind: TroubleKind;
  /** What it is, as the beginning of a sentence. */
  readonly says: string;
  /** What to do. */
  readonly mend: string;
}

type Words = readonly [kind: TroubleKind, says: (place: string) => string, mend: string];

const NAME_DATA = "name the directory of the data with --data";
const KEEP = "delete nothing there: what was accepted is in these files, and goes on by itself when there is room";

/** By the system's code of an error with a file. What is missing, and who may do what, needs a look at the file (store-trouble.ts). */
const OF_FILES: Readonly<Record<string, Words>> = {
  ENOSPC: [
    "full",
    (place) => `the disk of ${place} is full`,
    `free some room on that disk (logs, files of other programs), or enlarge it; ${KEEP}`,
  ],
  EDQUOT: ["full", (place) => `the quota for ${place} is used up`, `have the quota of this user raised; ${KEEP}`],
  EFBIG: [
    "full",
    (place) => `a file in ${place} would become larger than this process may write`,
    `raise the limit on the size of files ("ulimit -f", or LimitFSIZE= of systemd); ${KEEP}`,
  ],
  EROFS: [
    "read-only",
    (place) => `the disk of ${place} is read-only`,
    "see the system's log (dmesg), because a disk that fails is often made read-only; then mount it to be written again. Under systemd, ReadWritePaths= has to name the directory",
  ],
  EIO: [
    "failing",
    (place) => `the disk of ${place} fails (EIO)`,
    "see the system's log (dmesg) and to the disk; keep the data as it is, and copy all of the directory to another disk before you try anything on it",
  ],
  ESTALE: [
    "failing",
    (place) => `the network disk of ${place} is gone (ESTALE)`,
    "mount it again; the embedded store belongs on a local disk",
  ],
  EMFILE: [
    "limits",
    (place) => `${place} cannot be opened, because this process has too many files open`,
    'raise the limit ("ulimit -n", or LimitNOFILE= of systemd)',
  ],
  ENFILE: [
    "limits",
    (place) => `${place} cannot be opened, because this machine has too many files open`,
    "raise fs.file-max, or stop the program that opens so many",
  ],
  ENOTDIR: ["foreign", (place) => `ENOTDIR: ${place} is no directory, or lies below a file`, NAME_DATA],
  ELOOP: ["foreign", (place) => `ELOOP: ${place} is a link that leads to itself`, NAME_DATA],
  ENAMETOOLONG: ["foreign", (place) => `ENAMETOOLONG: ${place} is longer than a path may be`, NAME_DATA],
};

/** The trouble that a code of the system names; null for a code that says nothing by itself. */
export function fileTrouble(code: string, place: string): Trouble | null {
  const known = OF_FILES[code];
  return known === undefined ? null : { kind: known[0], says: known[1](place), mend: known[2] };
}

/** SQLSTATEs, codes of sockets and words of the driver; the first that fits counts. What the database itself said stands before these words. */
const OF_DATABASES: readonly (readonly [fits: RegExp, kind: TroubleKind, mend: string])[] = [
  [/^ECONNREFUSED$/, "away", "nothing listens there: start the database, or correct host and port of [store] url"],
  [
    /^(ENOTFOUND|EAI_AGAIN|EAI_NODATA)$/,
    "away",
    "nobody knows that name: correct the host of [store] url, or see to the name service of this machine",
  ],
  [
    /^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ECONNRESET|EPIPE|timeout expired|Connection terminated)/,
    "away",
    "it does not answer: see whether the machine is up, whether the database is overloaded, and to the network and the firewall between",
  ],
  [
    /^(EACCES|EPERM)$/,
    "refused",
    "this user may not use that socket: run it as the right user, or correct [store] url",
  ],
  [/^ENOENT$/, "away", "there is no such socket: start the database, or correct [store] url"],
  [/^url$/, "refused", "correct [store] url, which is postgres://user:password@host:port/database"],
  [/^57P0[123]$/, "away", "the database starts, stops or recovers: wait for it, and see its log if that takes long"],
  [/^(28P01|28000|SASL)/, "refused", "correct user and password of [store] url, or let the user in (pg_hba.conf)"],
  [/^3D000$/, "refused", 'make that database ("createdb"), or correct the name in [store] url'],
  [/^42501$/, "refused", "give the user of [store] url its rights again: the tables should be its own"],
  [
    /^53300$/,
    "limits",
    "too many are connected: raise max_connections, lower [store] connections, or see who holds so many (pg_stat_activity)",
  ],
  [/^53200$/, "limits", "the database has no memory left: see its log"],
  [
    /^(53100|58030)$/,
    "full",
    "the disk of the database is full or fails: free some room there; delete no file of the database",
  ],
  [
    /^25006$/,
    "read-only",
    "it takes no writes: a standby, or set so. Name the primary in [store] url, or see default_transaction_read_only",
  ],
  [/^pooled$/, "refused", "set pool_mode = session in the pool, or name the database itself in [store] url"],
  [
    /^(57014|55P03|Query read timeout)/,
    "held",
    "a statement took too long: see who is in the way (pg_stat_activity, pg_locks); [store] statementTimeoutMs is how long it may take",
  ],
  [/^(XX001|XX002)$/, "damaged", "the database is damaged: keep a copy of its files, and see its log and its disk"],
  [
    /^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ERR_TLS|EPROTO)/,
    "refused",
    "its certificate is not trusted: correct sslmode and sslrootcert of [store] url, or the certificate",
  ],
];

/** `code` is an SQLSTATE, a code of the system, or the driver's own words; null for what is not known here. */
export function databaseTrouble(code: string, says: string): Trouble | null {
  const known = OF_DATABASES.find(([fits]) => fits.test(code));
  return known === undefined ? null : { kind: known[1], says, mend: known[2] };
}
