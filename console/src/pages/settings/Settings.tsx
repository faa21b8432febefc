/** What an account sets for itself: API keys, callbacks, opt-outs, its password and second factor; and its limits. */
import { Page } from "../../parts/Page.tsx";
import { Tabs } from "../../parts/Tabs.tsx";
import { setQuery, useLocation } from "../../router.ts";
import { Access } from "./Access.tsx";
import { ApiKeys } from "./ApiKeys.tsx";
import { Callbacks } from "./Callbacks.tsx";
import { Limits } from "./Limits.tsx";
import { OptOuts } from "./OptOuts.tsx";
import "./settings.css";

const TABS = [
  { id: "keys", label: "API keys", show: () => <ApiKeys path="/account/1/api-keys" /> },
  { id: "callbacks", label: "Callbacks", show: () => <Callbacks /> },
  { id: "opt-outs", label: "Opt-outs", show: () => <OptOuts path="/account/1/opt-outs" /> },
  { id: "limits", label: "Limits", show: () => <Limits /> },
  { id: "access", label: "Password", show: () => <Access /> },
] as const;

export default function Settings() {
  const { query } = useLocation();
  const chosen = TABS.find(({ id }) => id === query.tab) ?? TABS[0];
  return (
    <Page title="Settings">
      <Tabs
        label="Settings"
        tabs={TABS}
        chosen={chosen.id}
        onChoose={(id) => setQuery({ tab: id === TABS[0].id ? null : id })}
      >
        {chosen.show()}
      </Tabs>
    </Page>
  );
}
