import { RecountError, type ServerOptions } from "@recount/client";
import { useCallback, useEffect, useMemo, useState } from "react";
import { Boundary } from "./parts/boundary";
import { errorText, Notices } from "./parts/notices";
import { tradeToken } from "./service/api";
import { ServiceContext, storedToken } from "./service/context";
import { TokenGate } from "./sessions/token-gate";
import { Workspace } from "./sessions/workspace";

type Access =
  | { readonly kind: "asking" }
  | { readonly kind: "open"; readonly token: string | undefined }
  | { readonly kind: "closed"; readonly why: string | undefined };

/** The characters that a header value may contain. */
const WRITABLE = /^[\x21-\x7e]+$/;

/** The page. If the service requires a token, the token form is shown first. */
export function App() {
  const [access, setAccess] = useState<Access>({ kind: "asking" });

  const enter = useCallback(async (token: string | undefined) => {
    if (token && !WRITABLE.test(token)) return setAccess({ kind: "closed", why: "No token looks like this." });
    try {
      await tradeToken(token ? { token } : {});
    } catch (error) {
      const isRefused = error instanceof RecountError && error.status === 401;
      if (isRefused) {
        storedToken.set(undefined);
        return setAccess({ kind: "closed", why: token && errorText(error) });
      }
      // Other errors are reported by the connection, which retries.
    }
    storedToken.set(token);
    setAccess({ kind: "open", token });
  }, []);

  useEffect(() => {
    enter(storedToken.get());
  }, [enter]);

  const close = useCallback(() => {
    storedToken.set(undefined);
    setAccess({ kind: "closed", why: undefined });
  }, []);
  const token = access.kind === "open" ? access.token : undefined;
  const service = useMemo<ServerOptions>(() => ({ all: true, token }), [token]);

  if (access.kind === "asking") return null;
  if (access.kind === "closed") return <TokenGate why={access.why} onToken={enter} />;
  return (
    <ServiceContext value={service}>
      <Notices>
        <Boundary of={service} instead={<Broken />}>
          <Workspace onRefused={close} />
        </Boundary>
      </Notices>
    </ServiceContext>
  );
}

/** Shown if the page itself fails. All messages are stored by the service. */
function Broken() {
  return (
    <main className="broken" role="alert">
      <h1>This page has broken</h1>
      <p>Nothing that was said is lost. Loaded anew, it goes on from where it was.</p>
      <button type="button" className="primary" onClick={() => location.reload()}>
        Load it anew
      </button>
    </main>
  );
}
