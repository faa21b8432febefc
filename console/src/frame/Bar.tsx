/** The bar above: the finder, the sandbox's clock, and whose account this is. */
import { ChevronDown, LogOut, Monitor, Moon, Search, Sun } from "lucide";
import { useEffect } from "preact/hooks";
import { useView } from "../live.ts";
import { Button } from "../parts/Button.tsx";
import { ClockMenu } from "../parts/ClockMenu.tsx";
import { Icon } from "../parts/Icon.tsx";
import { Popup } from "../parts/Popup.tsx";
import { setClockOffset } from "../parts/Time.tsx";
import { say } from "../parts/Toast.tsx";
import { type Me, me, signOut } from "../session.ts";
import { nextTheme, theme } from "../theme.ts";
import { isPaletteOpen } from "./Palette.tsx";

const THEME_WORDS = {
  system: { icon: Monitor, words: "Colours: as the system" },
  light: { icon: Sun, words: "Colours: light" },
  dark: { icon: Moon, words: "Colours: dark" },
} as const;

export function Bar({ who }: { who: Me }) {
  const { data } = useView<Me>("me");
  useEffect(() => {
    if (data === null || !me.peek()) return;
    me.value = data;
    setClockOffset(data.clockOffsetMs);
  }, [data]);
  const colours = THEME_WORDS[theme.value];
  const leave = () => signOut().catch((error: Error) => say(error.message));
  return (
    <header class="bar">
      <button type="button" class="finder" onClick={() => (isPaletteOpen.value = true)}>
        <Icon of={Search} size={14} />
        <span>Search messages, go to a page</span>
        <kbd>Ctrl K</kbd>
      </button>
      <div class="bar-end">
        {who.sandbox && <ClockMenu />}
        <Popup
          label={`Account ${who.username ?? who.accountKey}`}
          button={
            <>
              {who.username ?? who.accountKey}
              <Icon of={ChevronDown} size={14} />
            </>
          }
        >
          <div class="pop-words">
            {who.kind}, account <span class="mono">{who.accountKey}</span>
          </div>
          <Button onClick={nextTheme}>
            <Icon of={colours.icon} />
            {colours.words}
          </Button>
          <a class="button" href="/docs" target="_blank" rel="noreferrer">
            The API
          </a>
          <Button onClick={leave}>
            <Icon of={LogOut} />
            Sign out
          </Button>
        </Popup>
      </div>
    </header>
  );
}
