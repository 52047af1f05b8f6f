// Before anything is painted, so that a dark page does not flash.
try {
  const theme = localStorage.getItem("recount.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // A browser that keeps nothing has nothing chosen.
}
