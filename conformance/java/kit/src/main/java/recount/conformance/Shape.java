package recount.conformance;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * An object with all its fields, from which invalid variants are created: fields that are missing, null, or of another
 * JSON type.
 *
 * @param name the prefix of the case names
 * @param kind the kind that the texts are parsed as
 * @param whole the object with every field
 */
record Shape(String name, String kind, String whole) {

  /** One value for each JSON type, with the name of its cases. */
  private static final Map<String, String> WRONG = new LinkedHashMap<>();

  static {
    WRONG.put("text", "\"x\"");
    WRONG.put("number", "7");
    WRONG.put("float", "1.7");
    WRONG.put("numeral", "\"7\"");
    WRONG.put("true", "true");
    WRONG.put("list", "[]");
    WRONG.put("object", "{}");
  }

  /** Returns every invalid variant of the object, and the complete one. */
  List<TextCase> cases() {
    List<TextCase> cases = new ArrayList<>();
    cases.add(new TextCase(name + "/whole", kind, whole));
    ObjectNode object = (ObjectNode) Json.parse(whole);
    for (Iterator<String> fields = object.fieldNames(); fields.hasNext(); ) {
      String field = fields.next();
      if (kind.equals("event") && field.equals("type")) {
        // Recorded once for all events.
        continue;
      }
      cases.add(with(object, field, "missing", null));
      cases.add(with(object, field, "null", "null"));
      WRONG.forEach(
          (wrong, value) -> {
            if (isWrong(object.get(field), wrong)) {
              cases.add(with(object, field, wrong, value));
            }
          });
    }
    return cases;
  }

  /** Numbers have several invalid forms. For other values only other types are tested. */
  private static boolean isWrong(JsonNode right, String wrong) {
    return switch (wrong) {
      case "text" -> !right.isTextual();
      case "number" -> !right.isNumber();
      case "float", "numeral" -> right.isNumber();
      case "true" -> !right.isBoolean();
      case "list" -> !right.isArray() && !right.isTextual();
      case "object" -> !right.isObject();
      default -> throw new IllegalArgumentException(wrong);
    };
  }

  private TextCase with(ObjectNode object, String field, String variant, String value) {
    ObjectNode spoiled = object.deepCopy();
    if (value == null) {
      spoiled.remove(field);
    } else {
      spoiled.set(field, Json.parse(value));
    }
    return new TextCase(name + "/" + field + "-" + variant, kind, Json.text(spoiled));
  }
}
