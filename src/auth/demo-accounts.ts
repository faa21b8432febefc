/** The accounts that every sandbox has, with passwords that everybody knows. */
import type { AccountKind } from "../store/port/accounts.ts";

/** Of a message without a "from": a first one need not have it. */
export const DEMO_SENDER = "Heliograph";

interface DemoAccount {
  readonly key: string;
  readonly kind: AccountKind;
  readonly parentKey: string | null;
  readonly username: string;
  readonly password: string;
  readonly balance: string;
}

/** A parent stands before its children. */
export const DEMO_ACCOUNTS: readonly DemoAccount[] = [
  {
    key: "OPERATOR1",
    kind: "operator",
    parentKey: null,
    username: "operator",
    password: "operator-password",
    balance: "0",
  },
  {
    key: "RESELLER1",
    kind: "reseller",
    parentKey: null,
    username: "reseller",
    password: "reseller-password",
    balance: "0",
  },
  {
    key: "DEMO0001",
    kind: "client",
    parentKey: "RESELLER1",
    username: "demo",
    password: "demo-password",
    balance: "100",
  },
];
