/** The name, and its mark: a mirror that catches the sun. */
export function Brand() {
  return (
    <a class="brand" href="/">
      <svg width="24" height="24" viewBox="0 0 32 32" aria-hidden="true">
        <rect width="32" height="32" rx="8" fill="var(--accent-fill)" />
        <circle cx="16" cy="16" r="5" fill="#fde68a" />
        <path
          d="M16 5v3M16 24v3M5 16h3M24 16h3M8.2 8.2l2.1 2.1M21.7 21.7l2.1 2.1M8.2 23.8l2.1-2.1M21.7 10.3l2.1-2.1"
          stroke="#fde68a"
          stroke-width="2.4"
          stroke-linecap="round"
        />
      </svg>
      Heliograph
    </a>
  );
}
