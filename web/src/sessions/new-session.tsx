import type { ConnectionState } from "@recount/client";
import { type ReactNode, useEffect, useState } from "react";
import { Composer } from "../conversation/composer";
import { type Content, contentOf, titleFor } from "../conversation/content";
import { go } from "../lib/route";
import { Connection } from "../parts/connection";
import { useNotify } from "../parts/notices";
import { type Agents, createSession, listAgents } from "../service/api";
import { useService } from "../service/context";
import { willSay } from "./first-message";

/** Messages that the demo model understands. */
const EXAMPLES = ["Think, then use a tool", "Show me an image", "Tell me something long"];

/** The page of a new session. The first message creates it. */
export function NewSession({ menu, state }: { menu: ReactNode; state: ConnectionState }) {
  const service = useService();
  const notify = useNotify();
  const [agents, setAgents] = useState<Agents>();
  const [agent, setAgent] = useState<string>();
  useEffect(() => {
    document.title = "Recount";
    listAgents(service).then(setAgents, () => {});
  }, [service]);
  const chosen = agents?.agents.find(({ name }) => name === (agent ?? agents.default));

  const send = async (content: Content) => {
    const { id } = await createSession(service, { agent, title: titleFor(content) });
    willSay(id, content);
    go({ session: id });
  };

  const isDemo = chosen && /^demo(\/|$)/.test(chosen.model);
  return (
    <>
      <header className="top">
        {menu}
        <h1>New session</h1>
        <span className="grow" />
        <Connection state={state} />
      </header>
      <div className="conversation">
        <div className="scroller" role="log" aria-label="Conversation">
          <div className="welcome">
            <h2>What shall we do?</h2>
            {chosen && (
              <p>
                <strong>{chosen.name}</strong> answers{chosen.model ? `, with ${chosen.model}` : ""}.
                {chosen.description ? ` ${chosen.description}` : ""}
              </p>
            )}
            {chosen && chosen.tools.length > 0 && (
              <ul className="tools" aria-label="Tools">
                {chosen.tools.map((tool) => (
                  <li key={tool}>{tool}</li>
                ))}
              </ul>
            )}
            {isDemo && (
              <div className="examples">
                <p>It is a script that needs no key, and shows what a message can hold.</p>
                {EXAMPLES.map((example) => (
                  <button key={example} type="button" onClick={() => send(contentOf(example, [])).catch(notify)}>
                    {example}
                  </button>
                ))}
                <p className="more">
                  A real model answers where the service is started with a provider’s key, such as{" "}
                  <code>ANTHROPIC_API_KEY</code>, or with <code>RECOUNT_MODEL</code>.
                </p>
              </div>
            )}
          </div>
        </div>
      </div>
      <Composer name={undefined} onSend={send} onStop={undefined}>
        {agents && agents.agents.length > 1 && (
          <select aria-label="Agent" value={agent ?? agents.default} onChange={(event) => setAgent(event.target.value)}>
            {agents.agents.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
      </Composer>
    </>
  );
}
