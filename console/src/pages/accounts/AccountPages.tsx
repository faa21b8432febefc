/** The list of accounts and the page of one, for operators and for resellers: what differs is where they stand, and who is on them. */
import { useLocation } from "../../router.ts";
import { AccountDetail } from "./AccountDetail.tsx";
import { AccountList, type AccountListProps } from "./AccountList.tsx";
import "../settings/settings.css";
import "./accounts.css";

export function AccountPages(props: AccountListProps) {
  const { path } = useLocation();
  const name = path.startsWith(`${props.base}/`) ? path.slice(props.base.length + 1) : "";
  if (name === "") return <AccountList {...props} />;
  const accountKey = decodeURIComponent(name);
  return <AccountDetail key={accountKey} base={props.base} accountKey={accountKey} />;
}
