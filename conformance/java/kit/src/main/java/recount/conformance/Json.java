package recount.conformance;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.util.Iterator;
import java.util.Map;

/** JSON for this kit, independent of the library's mapper. */
public final class Json {

  private static final ObjectMapper MAPPER =
      JsonMapper.builder()
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .enable(DeserializationFeature.USE_BIG_INTEGER_FOR_INTS)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .nodeFactory(JsonNodeFactory.withExactBigDecimals(true))
          .build();

  private Json() {}

  /**
   * Parses any JSON text.
   *
   * @throws IllegalArgumentException if it is invalid
   */
  public static JsonNode parse(String text) {
    try {
      return MAPPER.readTree(text);
    } catch (JsonProcessingException thrown) {
      throw new IllegalArgumentException(thrown.getOriginalMessage(), thrown);
    }
  }

  public static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  /** Converts a value of this kit (maps, lists, texts, numbers) to a tree. */
  public static JsonNode tree(Object value) {
    return MAPPER.valueToTree(value);
  }

  public static String text(JsonNode node) {
    try {
      return MAPPER.writeValueAsString(node);
    } catch (JsonProcessingException thrown) {
      throw new IllegalArgumentException(thrown);
    }
  }

  /**
   * Returns the first difference between two trees, or null. The order of keys is ignored. Numbers must have the same
   * kind (integer or not) and value, regardless of their spelling.
   */
  public static String difference(JsonNode expected, JsonNode found, String path) {
    if (expected.isObject() && found.isObject()) {
      return differenceOfObjects(expected, found, path);
    }
    if (expected.isArray() && found.isArray()) {
      if (expected.size() != found.size()) {
        return path + ": " + expected.size() + " items expected, " + found.size() + " found";
      }
      for (int at = 0; at < expected.size(); at++) {
        String difference = difference(expected.get(at), found.get(at), path + "/" + at);
        if (difference != null) {
          return difference;
        }
      }
      return null;
    }
    if (same(expected, found)) {
      return null;
    }
    return (path.isEmpty() ? "/" : path) + ": " + text(expected) + " expected, " + text(found) + " found";
  }

  private static String differenceOfObjects(JsonNode expected, JsonNode found, String path) {
    for (Iterator<Map.Entry<String, JsonNode>> fields = expected.fields(); fields.hasNext(); ) {
      Map.Entry<String, JsonNode> field = fields.next();
      String place = path + "/" + field.getKey();
      JsonNode other = found.get(field.getKey());
      if (other == null) {
        return place + " is missing";
      }
      String difference = difference(field.getValue(), other, place);
      if (difference != null) {
        return difference;
      }
    }
    for (Iterator<String> names = found.fieldNames(); names.hasNext(); ) {
      String name = names.next();
      if (!expected.has(name)) {
        return path + "/" + name + " is not expected";
      }
    }
    return null;
  }

  private static boolean same(JsonNode expected, JsonNode found) {
    if (expected.isNumber() && found.isNumber()) {
      BigDecimal left = expected.decimalValue();
      return expected.isIntegralNumber() == found.isIntegralNumber() && left.compareTo(found.decimalValue()) == 0;
    }
    return expected.equals(found);
  }
}
