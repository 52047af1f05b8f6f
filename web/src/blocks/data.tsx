import type { DataBlock } from "@recount/client";
import { type ReactNode, useState } from "react";
import { base64Size, bytes } from "../lib/format";
import { useRoute } from "../lib/route";
import { save } from "../lib/save";
import { Icon } from "../parts/icon";
import { useBlob } from "../service/blobs";

/**
 * Binary data: an image, audio or video player, or a file to download. It is complete when its message or result is.
 */
export function Data({ block, isComplete }: { block: DataBlock; isComplete: boolean }) {
  const { media_type } = block.source;
  const kind = media_type.split("/", 1)[0]!;
  const address = useAddress(block, isComplete);
  const [broken, setBroken] = useState<string>();
  const label = block.name || `${/^(image|audio|video)$/.test(kind) ? kind : "file"} (${media_type})`;
  if (address === null) return <p className="media-state">{label} cannot be loaded.</p>;
  if (address === undefined)
    return <p className="media-state">{isComplete ? `Loading ${label}…` : `Receiving ${label}…`}</p>;
  const media = broken === address ? undefined : show(kind, address, label, () => setBroken(address));
  if (!media) return <File block={block} address={address} label={label} isBroken={broken === address} />;
  return (
    <figure className="media">
      {media}
      <figcaption>
        <span>{label}</span>
        {isHere(address) && (
          <button
            type="button"
            className="quiet small"
            aria-label={`Download ${label}`}
            title="Download"
            onClick={() => save(address, block.name ?? kind)}
          >
            <Icon name="download" />
          </button>
        )}
      </figcaption>
    </figure>
  );
}

/** Renders an image, audio or video. The browser may fail to decode it. */
function show(kind: string, address: string, label: string, onError: () => void): ReactNode {
  switch (kind) {
    case "image":
      return <img src={address} alt={label} onError={onError} />;
    case "audio":
      // biome-ignore lint/a11y/useMediaCaption: generated audio has no captions.
      return <audio controls src={address} aria-label={label} onError={onError} />;
    case "video":
      // biome-ignore lint/a11y/useMediaCaption: generated video has no captions.
      return <video controls src={address} aria-label={label} onError={onError} />;
    default:
      return;
  }
}

function File({
  block: { source, name },
  address,
  label,
  isBroken,
}: {
  block: DataBlock;
  address: string;
  label: string;
  /** Whether the browser failed to decode the media. */
  isBroken: boolean;
}) {
  const size = source.type === "base64" ? bytes(base64Size(source.data)) : source.media_type;
  return (
    <a
      className="file"
      href={address}
      {...(isHere(address) ? { download: name ?? "file" } : { target: "_blank", rel: "noopener noreferrer nofollow" })}
    >
      <Icon name="download" />
      <span>{label}</span>
      <small>{isBroken ? "cannot be shown" : size}</small>
    </a>
  );
}

/** Returns whether the bytes are part of the message itself. */
const isHere = (address: string): boolean => /^(data|blob):/.test(address);

/** Returns the address of the bytes: `undefined` until they are complete, and `null` if they are not available. */
function useAddress({ source }: DataBlock, isComplete: boolean): string | undefined | null {
  const { session } = useRoute();
  const digest = source.type === "url" ? /^recount-blob:sha256:([0-9a-f]{64})$/.exec(source.url)?.[1] : undefined;
  const fetched = useBlob(digest && session ? `/v1/sessions/${session}/blobs/${digest}` : undefined);
  if (source.type === "url") {
    if (digest) return fetched;
    return /^(https?:|data:)/i.test(source.url) ? source.url : null;
  }
  // A partial image cannot be decoded. An empty file is valid.
  return isComplete ? `data:${source.media_type};base64,${source.data}` : undefined;
}
