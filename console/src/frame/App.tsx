/** Whoever is signed in sees the frame with a page in it; everybody else the sign-in page, at the address where they come back to. */

import { useEffect, useState } from "preact/hooks";
import { ErrorBoundary, Route, Router } from "preact-iso";
import { connected } from "../live.ts";
import { detailsOf, homeOf, pagesOf } from "../pages.ts";
import { Empty, Page, ProblemBox } from "../parts/Page.tsx";
import { Busy } from "../parts/Status.tsx";
import { Toasts } from "../parts/Toast.tsx";
import { navigate, useLocation, useRouting } from "../router.ts";
import { type Me, me } from "../session.ts";
import { Bar } from "./Bar.tsx";
import { Menu, TabBar } from "./Menu.tsx";
import { Palette, useShortcuts } from "./Palette.tsx";
import { SignIn } from "./SignIn.tsx";

export function App() {
  useRouting();
  const who = me.value;
  if (who === undefined) return <Waiting />;
  return (
    <>
      {who === null ? <SignIn /> : <Frame who={who} />}
      <Toasts />
    </>
  );
}

function Waiting() {
  return (
    <div class="sign-in">
      <Busy>Looking for the service</Busy>
    </div>
  );
}

function Frame({ who }: { who: Me }) {
  const { path } = useLocation();
  const [problem, setProblem] = useState<Error | null>(null);
  const [loading, setLoading] = useState(false);
  useShortcuts();
  useEffect(() => {
    const { required, enabled } = who.secondFactor;
    // Until one is there nothing else is answered.
    if (required && !enabled && path !== "/settings") navigate("/settings", { replace: true });
    else if (path === "/" || path === "/sign-in") navigate(homeOf(who), { replace: true });
    setProblem(null);
  }, [path, who]);
  return (
    <div class="frame">
      <a class="skip button" href="#content">
        Skip to the content
      </a>
      <Menu who={who} />
      <Bar who={who} />
      {loading && <div class="loading" role="status" aria-label="Loading the page" />}
      <main class="content" id="content" tabIndex={-1}>
        <div class="content-inner">
          <ProblemBox of={problem && `This page could not be shown: ${problem.message}. Reload it to try again.`} />
          <ErrorBoundary onError={setProblem}>
            <Router onLoadStart={() => setLoading(true)} onLoadEnd={() => setLoading(false)}>
              {pagesOf(who).map(({ path: place, component }) => (
                <Route key={place} path={place} component={component} />
              ))}
              {detailsOf(who).map(({ path: place, component }) => (
                <Route key={place} path={place} component={component} />
              ))}
              <Route default component={Nowhere} />
            </Router>
          </ErrorBoundary>
        </div>
      </main>
      <TabBar who={who} />
      <Palette who={who} />
      {!connected.value && (
        <div class="lost" role="status">
          The connection is lost; trying again…
        </div>
      )}
    </div>
  );
}

function Nowhere() {
  if (location.pathname === "/") return null;
  return (
    <Page title="Not found">
      <Empty title="There is no such page">
        Or it is not one of this account's. <a href="/">Go to the first page</a>.
      </Empty>
    </Page>
  );
}
