/** All accounts, for the operator. */
import { AccountPages } from "./AccountPages.tsx";

export default function Accounts() {
  return <AccountPages title="Accounts" base="/accounts" clientsOnly={false} />;
}
