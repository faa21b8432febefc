/** The console begins here. */
import "./style/tokens.css";
import "./style/base.css";
import "./style/parts.css";
import "./style/frame.css";
import "./theme.ts";
import { render } from "preact";
import { LocationProvider } from "preact-iso";
import { App } from "./frame/App.tsx";
import { start } from "./session.ts";

render(
  <LocationProvider>
    <App />
  </LocationProvider>,
  document.getElementById("app")!,
);
void start();
