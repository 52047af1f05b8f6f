import { type Theme, useTheme } from "../lib/theme";
import { Icon, type IconName } from "./icon";

const next: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };
const icons: Record<Theme, IconName> = { system: "screen", light: "sun", dark: "moon" };

/** Cycles through the system's theme, light and dark. */
export function ThemeSwitch() {
  const [theme, setTheme] = useTheme();
  return (
    <button
      type="button"
      className="quiet"
      aria-label={`Colours: ${theme}`}
      title={`Colours: ${theme}`}
      onClick={() => setTheme(next[theme])}
    >
      <Icon name={icons[theme]} />
    </button>
  );
}
