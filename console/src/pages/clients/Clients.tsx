/** A reseller's clients: their balances, funds, limits and statements. */
import { AccountPages } from "../accounts/AccountPages.tsx";

export default function Clients() {
  return <AccountPages title="Clients" base="/clients" clientsOnly />;
}
