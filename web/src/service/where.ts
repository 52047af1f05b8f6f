import type { ServerOptions } from "@recount/client";
import { createContext, useContext } from "react";
import { keep, recall } from "../lib/storage";

/** The service that the page talks to: the one that it came from. */
export const ServiceContext = createContext<ServerOptions>({});

export const useService = (): ServerOptions => useContext(ServiceContext);

const KEY = "recount.token";

/** A token lives as long as the tab, and nowhere else. */
export const storedToken = {
  get: (): string | undefined => recall("sessionStorage", KEY),
  set: (token: string | undefined): void => keep("sessionStorage", KEY, token),
};
