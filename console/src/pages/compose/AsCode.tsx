/** The request as code, by language. Its place is kept in the browser: who writes PHP wants PHP the next time too. */
import { useState } from "preact/hooks";
import { Code } from "../../parts/Copy.tsx";
import { Tabs } from "../../parts/Tabs.tsx";
import { me } from "../../session.ts";
import type { SendingRequest } from "./draft.ts";
import { INSTALLING, LANGUAGE_NAMES, LANGUAGES, type SnippetLanguage, SOME_KEY, snippet } from "./snippets.ts";

const KEPT_AS = "heliograph.language";

/** Of the sandbox's first client; the docs have it too (cli/sandbox.ts). */
const DEMO = { accountKey: "DEMO0001", apiKey: "demo-api-key" };

function keptLanguage(): SnippetLanguage {
  try {
    return LANGUAGES.find((language) => language === localStorage.getItem(KEPT_AS)) ?? "curl";
  } catch {
    // A browser that keeps nothing.
    return "curl";
  }
}

export function AsCode({ request }: { request: SendingRequest }) {
  const [language, setLanguage] = useState(keptLanguage);
  const choose = (id: string): void => {
    const chosen = LANGUAGES.find((known) => known === id) ?? "curl";
    setLanguage(chosen);
    try {
      localStorage.setItem(KEPT_AS, chosen);
    } catch {
      // As above.
    }
  };
  const installing = INSTALLING[language];
  const isDemo = me.value?.sandbox === true && me.value.accountKey === DEMO.accountKey;
  const key = isDemo ? DEMO.apiKey : SOME_KEY;
  return (
    <section class="compose-code" aria-label="The same request as code">
      <Tabs
        label="Language of the code"
        tabs={LANGUAGES.map((id) => ({ id, label: LANGUAGE_NAMES[id] }))}
        chosen={language}
        onChoose={choose}
      >
        <div class="stack">
          {installing !== null && <Code text={installing} label="Installing" />}
          <Code text={snippet(language, request, location.origin, key)} label={LANGUAGE_NAMES[language]} />
          {!isDemo && (
            <p class="soft">
              {SOME_KEY} stands for a key of yours: <a href="/settings">Settings, API keys</a> makes one.
            </p>
          )}
        </div>
      </Tabs>
    </section>
  );
}
