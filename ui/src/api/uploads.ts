/** Sends files. `fetch` tells nothing of how much is sent, so this is an XMLHttpRequest. */
import { countSignIns, nextSignIn, signs } from "./credential";
import { ApiError, problemIn } from "./problem";
import type { FileBody } from "./types";

/** Makes a database of a file; `progress` gets the share that is sent. Raises what the API calls raise. */
export function sendFile(
  file: File,
  progress: (share: number) => void,
  signal: AbortSignal,
): Promise<FileBody> {
  const sent = countSignIns();
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", `/api/v1/database-connections/files?file_name=${encodeURIComponent(file.name)}`);
    for (const [name, value] of Object.entries(signs())) request.setRequestHeader(name, value);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.responseType = "json";
    request.upload.onprogress = (event) => progress(event.total > 0 ? event.loaded / event.total : 0);
    request.onload = () => {
      if (request.status === 201) resolve(request.response as FileBody);
      else if (request.status === 401)
        nextSignIn(sent, signal)
          .then(() => sendFile(file, progress, signal))
          .then(resolve, reject);
      else reject(new ApiError(problemIn(request.response, request.status)));
    };
    request.onerror = () => reject(new TypeError("offline"));
    signal.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}
