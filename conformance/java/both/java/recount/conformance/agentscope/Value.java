package recount.conformance.agentscope;

/**
 * A value created by the library's constructors and builders.
 *
 * @param name the name of the case
 * @param kind the kind that the library parses it as
 * @param value the value
 */
public record Value(String name, String kind, Object value) {}
