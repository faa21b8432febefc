/** The menu: at the side, and at phone width a bar below with the rest behind a button. */
import { Ellipsis } from "lucide";
import { useState } from "preact/hooks";
import { useHealth } from "../pages/overview/health.ts";
import { GROUP_TITLES, type MenuGroup, type PageEntry, pagesOf } from "../pages.ts";
import { Amount } from "../parts/Amount.tsx";
import { Dialog } from "../parts/Dialog.tsx";
import { Icon } from "../parts/Icon.tsx";
import { useLocation } from "../router.ts";
import type { Me } from "../session.ts";
import { Brand } from "./Brand.tsx";

const GROUPS: readonly MenuGroup[] = ["account", "reseller", "operator"];
/** What an operator and a reseller do comes before what any account does. */
const orderOf = ({ kind }: Me): MenuGroup[] =>
  [...GROUPS].sort((one, other) => Number(other === kind) - Number(one === kind));

const isAt = (page: PageEntry, path: string): boolean => path === page.path || path.startsWith(`${page.path}/`);

function MenuLinks({ who, onChoose }: { who: Me; onChoose?: () => void }) {
  const { path } = useLocation();
  const pages = pagesOf(who);
  const health = useHealth();
  return (
    <>
      {orderOf(who).map((group) => {
        const own = pages.filter((page) => page.group === group);
        if (own.length === 0) return null;
        return (
          <div key={group} class="menu">
            {pages.length > own.length && <div class="menu-title">{GROUP_TITLES[group]}</div>}
            {own.map((page) => (
              <a
                key={page.path}
                href={page.path}
                {...(isAt(page, path) ? { "aria-current": "page" as const } : {})}
                {...(onChoose === undefined ? {} : { onClick: onChoose })}
              >
                <Icon of={page.icon} />
                {page.title}
                {page.path === "/overview" && health !== null && (
                  <span class={`menu-sign ${health.is}`} role="img" aria-label={health.says} title={health.says} />
                )}
              </a>
            ))}
          </div>
        );
      })}
    </>
  );
}

export function Menu({ who }: { who: Me }) {
  return (
    <div class="side">
      <Brand />
      <nav aria-label="Pages">
        <MenuLinks who={who} />
      </nav>
      <div class="side-foot">
        <span class="soft">Balance</span>
        <a class="balance" href="/money">
          <Amount of={who.balance} currency={who.currency} />
        </a>
      </div>
    </div>
  );
}

/** So many pages stand in the bar below. */
const IN_BAR = 4;

export function TabBar({ who }: { who: Me }) {
  const { path } = useLocation();
  const [open, setOpen] = useState(false);
  const pages = orderOf(who)
    .flatMap((group) => pagesOf(who).filter((page) => page.group === group))
    .slice(0, IN_BAR);
  return (
    <>
      <nav class="tabbar" aria-label="Main pages">
        {pages.map((page) => (
          <a key={page.path} href={page.path} {...(isAt(page, path) ? { "aria-current": "page" as const } : {})}>
            <Icon of={page.icon} size={18} />
            {page.title}
          </a>
        ))}
        <button type="button" onClick={() => setOpen(true)}>
          <Icon of={Ellipsis} size={18} />
          More
        </button>
      </nav>
      {open && (
        <Dialog title="Pages" onClose={() => setOpen(false)}>
          <nav aria-label="All pages">
            <MenuLinks who={who} onChoose={() => setOpen(false)} />
          </nav>
          <div class="side-foot">
            <span class="soft">Balance</span>
            <a class="balance" href="/money" onClick={() => setOpen(false)}>
              <Amount of={who.balance} currency={who.currency} />
            </a>
          </div>
        </Dialog>
      )}
    </>
  );
}
