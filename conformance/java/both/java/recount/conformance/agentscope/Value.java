package recount.conformance.agentscope;

/**
 * Something that the library's own constructors and builders made.
 *
 * @param name what the case is about
 * @param kind what the library would read it as
 * @param value the value
 */
public record Value(String name, String kind, Object value) {}
