package recount.conformance;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The value as a program sees it: its class and the results of its getters. Equal JSON can still differ here, for
 * example if a getter has a default.
 */
public final class Meaning {

  private static final String LIBRARY = "io.agentscope.";

  /** Getters that repeat another one. */
  private static final Set<String> REPEATED = Set.of("class", "firstContentBlock", "declaringClass");

  private Meaning() {}

  /** Returns the value as maps, lists, texts, numbers and nulls. */
  public static Object of(Object value) {
    if (value instanceof Enum<?> constant) {
      return constant.name();
    }
    if (value instanceof Map<?, ?> map) {
      Map<String, Object> copy = new TreeMap<>();
      map.forEach((key, item) -> copy.put(String.valueOf(key), of(item)));
      return copy;
    }
    if (value instanceof Collection<?> items) {
      List<Object> copy = new ArrayList<>();
      items.forEach(item -> copy.add(of(item)));
      return copy;
    }
    if (value instanceof Object[] items) {
      return of(Arrays.asList(items));
    }
    if (value != null && value.getClass().getName().startsWith(LIBRARY)) {
      return ofObject(value);
    }
    return value;
  }

  private static Map<String, Object> ofObject(Object value) {
    Map<String, Object> properties = new TreeMap<>();
    for (Method method : value.getClass().getMethods()) {
      String property = property(value, method);
      if (property != null && !REPEATED.contains(property)) {
        properties.put(property, of(call(value, method)));
      }
    }
    Map<String, Object> meaning = new LinkedHashMap<>();
    meaning.put("class", value.getClass().getSimpleName());
    meaning.putAll(properties);
    return meaning;
  }

  /** Returns the name of a getter's property, or null if the method is not a getter. */
  private static String property(Object value, Method method) {
    if (method.getParameterCount() > 0 || Modifier.isStatic(method.getModifiers())) {
      return null;
    }
    String name = method.getName();
    if (value instanceof Record) {
      boolean component = method.getDeclaringClass() == value.getClass();
      return component && !Set.of("toString", "hashCode", "equals").contains(name) ? name : null;
    }
    if (name.matches("get[A-Z].*")) {
      return uncapitalised(name.substring(3));
    }
    if (name.matches("is[A-Z].*")) {
      return uncapitalised(name.substring(2));
    }
    return name.matches("has[A-Z].*") ? name : null;
  }

  private static String uncapitalised(String name) {
    return Character.toLowerCase(name.charAt(0)) + name.substring(1);
  }

  private static Object call(Object value, Method method) {
    try {
      return method.invoke(value);
    } catch (InvocationTargetException thrown) {
      return Map.of("throws", thrown.getCause().getClass().getSimpleName());
    } catch (IllegalAccessException thrown) {
      throw new IllegalStateException(thrown);
    }
  }
}
