import { type Msg, RecountError, type SessionInfo } from "@recount/client";
import { useSession } from "@recount/client/react";
import { type ReactNode, useEffect, useMemo, useRef } from "react";
import { type Actions, ActionsContext } from "../conversation/actions";
import { Composer } from "../conversation/composer";
import { type Content, titleFor, withText } from "../conversation/content";
import { Conversation } from "../conversation/conversation";
import { activityOf } from "../conversation/message";
import { Outbox, useOutbox } from "../conversation/outbox";
import { SubAgentsContext, separateReplies } from "../conversation/sub-agents";
import { useStatus } from "../conversation/use-status";
import { Inspector } from "../inspector/inspector";
import { go, type Route } from "../lib/route";
import { Connection } from "../parts/connection";
import { Icon } from "../parts/icon";
import { errorText, useNotify } from "../parts/notices";
import { forkBefore, putSession, renameSession } from "../service/api";
import { useService } from "../service/context";
import { takeFirst, willSay } from "./first-message";
import { chosenName, titleOf } from "./titles";
import { Usage } from "./usage";

/** A session: its messages and the input box. */
export function SessionPage({
  name,
  info,
  isListed,
  inspect,
  menu,
}: {
  name: string;
  /** The session's entry in the list of sessions. */
  info: SessionInfo | undefined;
  /** Whether the list of sessions is loaded. */
  isListed: boolean;
  inspect: Route["inspect"];
  menu: ReactNode;
}) {
  const service = useService();
  const { messages, state, hasOlder, error, session } = useSession(service, name);
  const { own, helpers } = useMemo(() => separateReplies(messages), [messages]);
  const { say, ...outbox } = useOutbox(name, session, messages);
  const news = useStatus(session);
  const isReplying = messages.some((message) => activityOf(message) !== "ended");
  const shown = useRef(messages);
  shown.current = messages;
  // The title is not known at first, and another name would flash.
  const title = error ? name : info ? titleOf(info) : isListed ? chosenName(name) : "";

  useEffect(() => {
    const mark = info?.status === "waiting" ? "● " : "";
    document.title = title ? `${mark}${title} · Recount` : "Recount";
  }, [title, info?.status]);

  useEffect(() => {
    const first = session && takeFirst(name);
    if (first) say(first);
  }, [session, name, say]);

  const actions = useMemo<Actions | undefined>(() => {
    if (!session) return;
    const sendInFork = async (message: Msg, content: Content) => {
      const { id: fork } = await forkBefore(service, name, message.id);
      willSay(fork, content);
      await renameSession(service, fork, titleFor(content)).catch(() => {});
      go({ session: fork });
    };
    return {
      session,
      edit: (message, text) => sendInFork(message, withText(message, text)),
      async regenerate(reply) {
        const before = shown.current.slice(
          0,
          shown.current.findIndex(({ id }) => id === reply.id),
        );
        const asked = before.findLast(({ role }) => role === "user");
        if (!asked) throw new Error("there is no message of yours before this reply");
        await sendInFork(asked, asked.content as Content);
      },
      inspect: (message) => go({ session: name, inspect: { message: message.id } }),
    };
  }, [session, service, name]);

  const send = (content: Content) => {
    say(content);
    if (info && !info.title && !messages.length) renameSession(service, name, titleFor(content)).catch(() => {});
  };

  const header = (
    <header className="top">
      {menu}
      {title && (
        <h1 title={title} dir="auto">
          {title}
        </h1>
      )}
      {info?.agent && <span className="agent">{info.agent}</span>}
      <span className="grow" />
      {!error && <Usage name={name} messages={messages} isLive={state === "live"} />}
      {!error && <Connection state={state} />}
      <button
        type="button"
        className="quiet"
        aria-label="Inspector"
        disabled={!!error}
        aria-pressed={inspect !== undefined}
        onClick={() => go({ session: name, inspect: inspect === undefined ? "end" : undefined })}
      >
        <Icon name="inspect" />
        <span className="wide">Inspector</span>
      </button>
    </header>
  );

  return (
    <>
      {header}
      {error ? (
        <Refused error={error} name={name} />
      ) : inspect !== undefined ? (
        <Inspector name={name} at={inspect} />
      ) : (
        <ActionsContext value={actions}>
          <SubAgentsContext value={helpers}>
            <Conversation messages={own} hasOlder={hasOlder} session={session}>
              {!messages.length && !outbox.pending.length && state === "live" && (
                <p className="nothing">Nothing has been said yet.</p>
              )}
              {news && isReplying && (
                <p className="news" role="status">
                  {news}
                </p>
              )}
              <Outbox {...outbox} isConnected={state === "live"} />
            </Conversation>
          </SubAgentsContext>
          <Composer
            key={name}
            name={name}
            onSend={send}
            onStop={isReplying && session ? () => session.interrupt() : undefined}
          />
        </ActionsContext>
      )}
    </>
  );
}

function Refused({ error, name }: { error: RecountError; name: string }) {
  const service = useService();
  const notify = useNotify();
  const create = () => putSession(service, name).then(() => location.reload(), notify);
  const isMissing = error instanceof RecountError && error.status === 404;
  return (
    <div className="refused" role="alert">
      <h2>{isMissing ? "There is no such session" : "This session cannot be read"}</h2>
      <p>{isMissing ? "It may have been deleted, or is yet to come." : errorText(error)}</p>
      {isMissing && (
        <button type="button" onClick={create}>
          Create it
        </button>
      )}
    </div>
  );
}
