/** Every page: its address, its words in the menu, and who has it. A page's script is fetched when it is first opened. */
import {
  ArrowDownToLine,
  Building2,
  CircleQuestionMark,
  Gauge,
  History,
  type IconNode,
  Layers,
  MessageSquareText,
  PenLine,
  Play,
  Radio,
  ScrollText,
  Server,
  Settings,
  Smartphone,
  Users,
  Wallet,
  Waypoints,
  Webhook,
} from "lucide";
import type { ComponentType } from "preact";
import { lazy as lazily } from "preact-iso";
import { Outdated } from "./frame/Outdated.tsx";
import type { Me } from "./session.ts";

const RELOADED_KEY = "heliograph-reloaded";

/** Another version of the service has other files: the page is loaded anew, once. */
function outdated(): { default: ComponentType } {
  if (sessionStorage.getItem(RELOADED_KEY) !== location.pathname) {
    sessionStorage.setItem(RELOADED_KEY, location.pathname);
    location.reload();
  }
  return { default: Outdated };
}

/** The library's types know the functions of a lazy component, and not that it is one. */
const lazy = (load: () => Promise<{ default: ComponentType }>) =>
  lazily(() =>
    load().then((page) => {
      sessionStorage.removeItem(RELOADED_KEY);
      return page;
    }, outdated),
  ) as unknown as ComponentType;

export type MenuGroup = "account" | "reseller" | "operator";

export interface PageEntry {
  readonly path: string;
  readonly title: string;
  readonly icon: IconNode;
  readonly group: MenuGroup;
  /** Only in the sandbox. */
  readonly sandbox?: true;
  readonly component: ComponentType;
}

export const PAGES: readonly PageEntry[] = [
  {
    path: "/start",
    title: "Start",
    icon: Play,
    group: "account",
    sandbox: true,
    component: lazy(() => import("./pages/start/Start.tsx")),
  },
  {
    path: "/messages",
    title: "Messages",
    icon: MessageSquareText,
    group: "account",
    component: lazy(() => import("./pages/messages/Messages.tsx")),
  },
  {
    path: "/compose",
    title: "Compose",
    icon: PenLine,
    group: "account",
    component: lazy(() => import("./pages/compose/Compose.tsx")),
  },
  {
    path: "/phones",
    title: "Phones",
    icon: Smartphone,
    group: "account",
    sandbox: true,
    component: lazy(() => import("./pages/phones/Phones.tsx")),
  },
  {
    path: "/bulks",
    title: "Bulks",
    icon: Layers,
    group: "account",
    component: lazy(() => import("./pages/bulks/Bulks.tsx")),
  },
  {
    path: "/reports",
    title: "Reports",
    icon: Webhook,
    group: "account",
    component: lazy(() => import("./pages/reports/Reports.tsx")),
  },
  {
    path: "/incoming",
    title: "Incoming",
    icon: ArrowDownToLine,
    group: "account",
    component: lazy(() => import("./pages/incoming/Incoming.tsx")),
  },
  {
    path: "/requests",
    title: "Requests",
    icon: ScrollText,
    group: "account",
    component: lazy(() => import("./pages/requests/Requests.tsx")),
  },
  {
    path: "/money",
    title: "Money",
    icon: Wallet,
    group: "account",
    component: lazy(() => import("./pages/money/Money.tsx")),
  },
  {
    path: "/settings",
    title: "Settings",
    icon: Settings,
    group: "account",
    component: lazy(() => import("./pages/settings/Settings.tsx")),
  },
  {
    path: "/clients",
    title: "Clients",
    icon: Users,
    group: "reseller",
    component: lazy(() => import("./pages/clients/Clients.tsx")),
  },
  {
    path: "/overview",
    title: "Overview",
    icon: Gauge,
    group: "operator",
    component: lazy(() => import("./pages/overview/Overview.tsx")),
  },
  {
    path: "/carriers",
    title: "Carriers",
    icon: Radio,
    group: "operator",
    component: lazy(() => import("./pages/carriers/Carriers.tsx")),
  },
  {
    path: "/routes",
    title: "Routes and prices",
    icon: Waypoints,
    group: "operator",
    component: lazy(() => import("./pages/routes/Routes.tsx")),
  },
  {
    path: "/accounts",
    title: "Accounts",
    icon: Building2,
    group: "operator",
    component: lazy(() => import("./pages/accounts/Accounts.tsx")),
  },
  {
    path: "/unmatched",
    title: "Unmatched",
    icon: CircleQuestionMark,
    group: "operator",
    component: lazy(() => import("./pages/unmatched/Unmatched.tsx")),
  },
  {
    path: "/nodes",
    title: "Nodes",
    icon: Server,
    group: "operator",
    component: lazy(() => import("./pages/nodes/Nodes.tsx")),
  },
  {
    path: "/audit",
    title: "Audit",
    icon: History,
    group: "operator",
    component: lazy(() => import("./pages/audit/Audit.tsx")),
  },
];

/** Pages of one thing, which a list leads to. */
const DETAILS: readonly { readonly path: string; readonly component: ComponentType }[] = [
  { path: "/messages/:id", component: lazy(() => import("./pages/message/Message.tsx")) },
  { path: "/bulks/:id", component: lazy(() => import("./pages/bulk/Bulk.tsx")) },
  { path: "/carriers/:id", component: lazy(() => import("./pages/carriers/Carriers.tsx")) },
  { path: "/clients/:key", component: lazy(() => import("./pages/clients/Clients.tsx")) },
  { path: "/accounts/:key", component: lazy(() => import("./pages/accounts/Accounts.tsx")) },
  { path: "/requests/:id", component: lazy(() => import("./pages/requests/Requests.tsx")) },
  { path: "/phones/:number", component: lazy(() => import("./pages/phones/Phones.tsx")) },
];

export const GROUP_TITLES: Readonly<Record<MenuGroup, string>> = {
  account: "Account",
  reseller: "Reseller",
  operator: "Operator",
};

/** The pages of whoever is signed in. */
export function pagesOf({ kind, sandbox }: Pick<Me, "kind" | "sandbox">): PageEntry[] {
  return PAGES.filter(
    (page) => (page.group === "account" || page.group === kind) && (sandbox || page.sandbox !== true),
  );
}

/** Where one begins: in the sandbox with a phone, and an operator with the question whether all is well. */
export function homeOf({ kind, sandbox }: Pick<Me, "kind" | "sandbox">): string {
  if (kind === "operator") return "/overview";
  if (kind === "reseller") return "/clients";
  return sandbox ? "/start" : "/messages";
}

/** The pages of single things that whoever is signed in has: those below a page that he has. */
export function detailsOf(who: Pick<Me, "kind" | "sandbox">): typeof DETAILS {
  const lists = pagesOf(who).map(({ path }) => `${path}/`);
  return DETAILS.filter(({ path }) => lists.some((list) => path.startsWith(list)));
}
