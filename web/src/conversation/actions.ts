import type { Msg, Session } from "@recount/client";
import { createContext, useContext } from "react";

/** What can be done with the messages that are shown. Where the past is shown there is nothing to be done. */
export interface Actions {
  readonly session: Session;
  /** Goes to a new session that stands as before a user's message, and says something else there. */
  edit(message: Msg, text: string): Promise<void>;
  /** The same with the words that were said before a reply. */
  regenerate(reply: Msg): Promise<void>;
  inspect(message: Msg): void;
}

export const ActionsContext = createContext<Actions | undefined>(undefined);

export const useActions = (): Actions | undefined => useContext(ActionsContext);
