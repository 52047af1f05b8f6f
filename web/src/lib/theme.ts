import { useEffect, useState } from "react";

/** As the system has it, or chosen. */
export type Theme = "system" | "light" | "dark";

const KEY = "recount.theme";

const read = (): Theme => {
  const theme = localStorage.getItem(KEY);
  return theme === "light" || theme === "dark" ? theme : "system";
};

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(read);
  useEffect(() => {
    if (theme === "system") {
      localStorage.removeItem(KEY);
      delete document.documentElement.dataset.theme;
    } else {
      localStorage.setItem(KEY, theme);
      document.documentElement.dataset.theme = theme;
    }
  }, [theme]);
  return [theme, setTheme];
}
