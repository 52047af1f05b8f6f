import type { DataBlock } from "@recount/client";
import { useEffect, useState } from "react";
import { base64Size, bytes } from "../lib/format";
import { useRoute } from "../lib/route";
import { Icon } from "../parts/icon";
import { useService } from "../service/where";

/**
 * Bytes: a picture, sound or film to be seen and heard, or a file to be had. Those inside of something else are complete
 * when that is.
 */
export function Data({ block, isComplete = !!block.finished_at }: { block: DataBlock; isComplete?: boolean }) {
  const { source, name } = block;
  const { media_type } = source;
  const kind = media_type.split("/", 1)[0];
  const address = useAddress(block, isComplete);
  const label = name || `${kind === "application" ? "file" : kind} (${media_type})`;
  if (address === undefined)
    return <p className="media-state">{isComplete ? `Loading ${label}…` : `Receiving ${label}…`}</p>;
  switch (kind) {
    case "image":
      return (
        <figure className="media">
          <img src={address} alt={label} />
          {name && <figcaption>{name}</figcaption>}
        </figure>
      );
    case "audio":
      return (
        <figure className="media">
          {/* biome-ignore lint/a11y/useMediaCaption: what an agent makes has no captions. */}
          <audio controls src={address} aria-label={label} />
          <figcaption>{label}</figcaption>
        </figure>
      );
    case "video":
      return (
        <figure className="media">
          {/* biome-ignore lint/a11y/useMediaCaption: what an agent makes has no captions. */}
          <video controls src={address} aria-label={label} />
          <figcaption>{label}</figcaption>
        </figure>
      );
    default: {
      const size = source.type === "base64" ? bytes(base64Size(source.data)) : media_type;
      const isHere = address.startsWith("data:") || address.startsWith("blob:");
      return (
        <a
          className="file"
          href={address}
          {...(isHere ? { download: name ?? "file" } : { target: "_blank", rel: "noopener noreferrer nofollow" })}
        >
          <Icon name="download" />
          <span>{label}</span>
          <small>{size}</small>
        </a>
      );
    }
  }
}

/** Where the bytes can be had; `undefined` as long as they cannot. */
function useAddress({ source }: DataBlock, isComplete: boolean): string | undefined {
  const service = useService();
  const { session } = useRoute();
  const [fetched, setFetched] = useState<string>();
  const digest = source.type === "url" ? /^recount-blob:sha256:([0-9a-f]{64})$/.exec(source.url)?.[1] : undefined;
  useEffect(() => {
    if (!digest || !session) return;
    const fetching = new AbortController();
    let made: string | undefined;
    // A picture's address cannot carry a token.
    fetch(`/v1/sessions/${session}/blobs/${digest}`, {
      headers: service.token ? { authorization: `Bearer ${service.token}` } : {},
      signal: fetching.signal,
    })
      .then(async (response) => {
        if (!response.ok) return;
        made = URL.createObjectURL(await response.blob());
        setFetched(made);
      })
      .catch(() => {});
    return () => {
      fetching.abort();
      if (made) URL.revokeObjectURL(made);
    };
  }, [digest, session, service.token]);
  if (source.type === "url") {
    if (digest) return fetched;
    return /^(https?:|data:)/i.test(source.url) ? source.url : undefined;
  }
  // Half a picture is none.
  return isComplete && source.data ? `data:${source.media_type};base64,${source.data}` : undefined;
}
