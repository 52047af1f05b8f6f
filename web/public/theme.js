// Runs before the first paint, so that a dark page does not flash.
try {
  const theme = localStorage.getItem("recount.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Without storage there is no chosen theme.
}
