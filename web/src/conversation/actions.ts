import type { Msg, Session } from "@recount/client";
import { createContext, useContext } from "react";

/** The actions on the displayed messages. There are none while a past state is displayed. */
export interface Actions {
  readonly session: Session;
  /** Forks the session before a user's message and sends another text there. */
  edit(message: Msg, text: string): Promise<void>;
  /** Forks the session before a reply and sends the same text again. */
  regenerate(reply: Msg): Promise<void>;
  inspect(message: Msg): void;
}

export const ActionsContext = createContext<Actions | undefined>(undefined);

export const useActions = (): Actions | undefined => useContext(ActionsContext);
