/** The client accounts of a run: made through a running node's API, for a command line takes a second and two of them an account. */

/** Makes accounts with funds and gives each one's `Authorization`. `operator` is a name and a password with a colon between them. */
export async function createAccounts(
  ports: readonly number[],
  operator: string,
  keys: readonly string[],
  funds: string,
): Promise<string[]> {
  const headers = {
    Authorization: `Basic ${Buffer.from(operator).toString("base64")}`,
    "Content-Type": "application/json",
  };
  const call = async (port: number, path: string, body: object): Promise<{ key?: string }> => {
    const url = `http://127.0.0.1:${port}/operator/1/accounts${path}`;
    const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path || "an account"} was answered: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as { key?: string };
  };
  const authorizations: string[] = [];
  const waiting = keys.entries();
  // A node hashes one password at a time, and can do the rest of another account meanwhile.
  const make = async (port: number): Promise<void> => {
    for (const [index, key] of waiting) {
      await call(port, "", { key, username: key.toLowerCase(), ratePlan: "standard", openingBalance: Number(funds) });
      authorizations[index] = `App ${(await call(port, `/${key}/api-keys`, {})).key}`;
    }
  };
  await Promise.all([...ports, ...ports].map(make));
  return authorizations;
}

/**
 * Which account sends through which node, in an order in which neighbours differ in both: so the first few are spread over accounts and nodes as evenly
 * as all of them. Each account goes through all nodes, or with `pinned` through one.
 */
export function pairsOf(accounts: number, nodes: number, pinned: boolean): { account: number; node: number }[] {
  return Array.from({ length: accounts * (pinned ? 1 : nodes) }, (_, index) => {
    const account = index % accounts;
    return { account, node: (account + Math.floor(index / accounts)) % nodes };
  });
}
