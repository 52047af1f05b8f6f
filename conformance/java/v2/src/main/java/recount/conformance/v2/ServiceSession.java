package recount.conformance.v2;

import io.agentscope.core.event.AgentEvent;
import io.agentscope.core.util.JsonUtils;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import recount.conformance.Json;

/** A session of the service, in this library's dialect. */
final class ServiceSession {

  private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final String base;

  ServiceSession(String url, String session) {
    base = url + "/v1/sessions/" + session;
  }

  /** Creates the session if it does not exist. */
  void create() throws IOException, InterruptedException {
    send("PUT", "", "application/json", "{}");
  }

  /** Writes events with the library's mapper, and returns the cursor after them. */
  String post(List<? extends AgentEvent> events) throws IOException, InterruptedException {
    String lines = events.stream().map(JsonUtils.getJsonCodec()::toJson).collect(Collectors.joining("\n"));
    return Json.parse(send("POST", "/events?dialect=java", "application/x-ndjson", lines)).get("cursor").asText();
  }

  /** Returns every event after a cursor, parsed by the library's classes, until the consumer stops. */
  Iterator<AgentEvent> follow(String after) throws IOException, InterruptedException {
    URI address = URI.create(base + "/stream?dialect=java&after=" + after);
    HttpResponse<Stream<String>> response =
        http.send(HttpRequest.newBuilder(address).build(), HttpResponse.BodyHandlers.ofLines());
    if (response.statusCode() != 200) {
      throw new IOException(address + " answered " + response.statusCode());
    }
    return response
        .body()
        .filter(line -> line.startsWith("data:"))
        .map(line -> JsonUtils.getJsonCodec().fromJson(line.substring("data:".length()).strip(), AgentEvent.class))
        .filter(Objects::nonNull)
        .iterator();
  }

  private String send(String method, String path, String type, String body) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(base + path))
            .header("content-type", type)
            .method(method, HttpRequest.BodyPublishers.ofString(body))
            .build();
    HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
    if (response.statusCode() >= 300) {
      throw new IOException(method + " " + path + " answered " + response.statusCode() + ": " + response.body());
    }
    return response.body();
  }
}
