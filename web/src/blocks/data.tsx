import type { DataBlock } from "@recount/client";
import { base64Size, bytes } from "../lib/format";
import { useRoute } from "../lib/route";
import { Icon } from "../parts/icon";
import { useBlob } from "../service/blobs";

/** Bytes: a picture, sound or film to be seen and heard, or a file to be had. They are complete when what they are in is. */
export function Data({ block, isComplete }: { block: DataBlock; isComplete: boolean }) {
  const { source, name } = block;
  const { media_type } = source;
  const kind = media_type.split("/", 1)[0]!;
  const address = useAddress(block, isComplete);
  const label = name || `${/^(image|audio|video)$/.test(kind) ? kind : "file"} (${media_type})`;
  if (address === null) return <p className="media-state">{label} cannot be loaded.</p>;
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

/** Where the bytes can be had: `undefined` as long as they cannot, and `null` if they never can. */
function useAddress({ source }: DataBlock, isComplete: boolean): string | undefined | null {
  const { session } = useRoute();
  const digest = source.type === "url" ? /^recount-blob:sha256:([0-9a-f]{64})$/.exec(source.url)?.[1] : undefined;
  const fetched = useBlob(digest && session ? `/v1/sessions/${session}/blobs/${digest}` : undefined);
  if (source.type === "url") {
    if (digest) return fetched;
    return /^(https?:|data:)/i.test(source.url) ? source.url : null;
  }
  // Half a picture is none.
  return isComplete && source.data ? `data:${source.media_type};base64,${source.data}` : undefined;
}
