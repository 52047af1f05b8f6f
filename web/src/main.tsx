import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app";
import "./styles/base.css";
import "./styles/layout.css";
import "./styles/message.css";
import "./styles/blocks.css";
import "./styles/code.css";
import "./styles/inspector.css";

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
