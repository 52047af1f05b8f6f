import { Component, type ReactNode } from "react";

/** Renders a fallback if rendering fails, so that the rest of the page keeps working. It retries when `of` changes. */
export class Boundary extends Component<
  { readonly of: unknown; readonly instead: ReactNode; readonly children: ReactNode },
  { readonly failed: unknown; readonly hasFailed: boolean }
> {
  override state = { failed: undefined as unknown, hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override componentDidCatch() {
    this.setState({ failed: this.props.of });
  }

  override componentDidUpdate() {
    const { hasFailed, failed } = this.state;
    if (hasFailed && failed !== undefined && failed !== this.props.of)
      this.setState({ hasFailed: false, failed: undefined });
  }

  override render() {
    return this.state.hasFailed ? this.props.instead : this.props.children;
  }
}
