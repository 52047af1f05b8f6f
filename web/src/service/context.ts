import type { ServerOptions } from "@recount/client";
import { createContext, useContext } from "react";
import { keep, recall } from "../lib/storage";

/** The service of the page: its own origin. */
export const ServiceContext = createContext<ServerOptions>({});

export const useService = (): ServerOptions => useContext(ServiceContext);

const KEY = "recount.token";

/** The token is stored for the tab only. */
export const storedToken = {
  get: (): string | undefined => recall("sessionStorage", KEY),
  set: (token: string | undefined): void => keep("sessionStorage", KEY, token),
};
