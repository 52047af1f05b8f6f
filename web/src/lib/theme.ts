import { useEffect, useState } from "react";
import { keep, recall } from "./storage";

/** The system's theme, or a chosen one. */
export type Theme = "system" | "light" | "dark";

const KEY = "recount.theme";

const read = (): Theme => {
  const theme = recall("localStorage", KEY);
  return theme === "light" || theme === "dark" ? theme : "system";
};

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(read);
  useEffect(() => {
    keep("localStorage", KEY, theme === "system" ? undefined : theme);
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  }, [theme]);
  return [theme, setTheme];
}
