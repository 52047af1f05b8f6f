import { type SubmitEvent, useState } from "react";

/** Asks the user for a token. It is stored until the tab is closed. */
export function TokenGate({ why, onToken }: { why: string | undefined; onToken: (token: string) => Promise<void> }) {
  const [token, setToken] = useState("");
  const [isAsking, setAsking] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    setAsking(true);
    await onToken(token.trim());
    setAsking(false);
  };
  return (
    <main className="gate">
      <form onSubmit={submit}>
        <img src="/icon.svg" alt="" width="40" height="40" />
        <h1>Recount</h1>
        <p>
          This service wants a token. <code>recount token create</code> makes one; it is kept until this tab is closed.
        </p>
        <label htmlFor="token">Token</label>
        <input
          id="token"
          type="password"
          autoComplete="off"
          value={token}
          // biome-ignore lint/a11y/noAutofocus: the form is the only content of the page.
          autoFocus
          aria-describedby={why ? "why" : undefined}
          onChange={(event) => setToken(event.target.value)}
        />
        {why && (
          <p id="why" className="wrong" role="alert">
            {why}
          </p>
        )}
        <button type="submit" className="primary" disabled={isAsking || !token.trim()}>
          Enter
        </button>
      </form>
    </main>
  );
}
